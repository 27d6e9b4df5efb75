"""Certificates and kubeconfigs of a cluster, made once and kept."""

import base64
import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address
from pathlib import Path

import yaml

from ..host import certificates, files
from ..host.certificates import Holder, Pair

LIFETIME = dt.timedelta(days=3650)


@dataclass(frozen=True)
class Identity:
    """Who a certificate is for."""

    name: str  # the file's
    common_name: str
    group: str = ""
    addresses: tuple[IPv4Address, ...] = ()
    hosts: tuple[str, ...] = ()


@dataclass(frozen=True)
class Authority:
    """A certificate authority in a folder."""

    folder: Path
    name: str

    @property
    def certificate(self) -> Path:
        """The certificate to trust."""
        return self.folder / f"{self.name}.crt"

    def ensure(self, now: dt.datetime) -> None:
        """Make the authority unless it is there."""
        if self.certificate.exists():
            return
        pair = certificates.authority(f"shoal-{self.name}", now, LIFETIME)
        _save(self.folder, self.name, pair)

    def issue(self, identities: Sequence[Identity], now: dt.datetime) -> None:
        """Make the certificates that are not there yet."""
        missing = [i for i in identities if not (self.folder / f"{i.name}.crt").exists()]
        if not missing:
            return
        key = self.folder / f"{self.name}.key"
        signer = Pair(self.certificate.read_bytes(), key.read_bytes())
        for identity in missing:
            issued = certificates.issue(signer, _holder(identity), now, LIFETIME)
            _save(self.folder, identity.name, issued)


def service_account_key(folder: Path) -> None:
    """Make the key pair that signs service account tokens, unless it is there."""
    if (folder / "sa.pub").exists():
        return
    key, public = certificates.signing_key()
    files.write(folder / "sa.key", key, 0o600)
    files.write(folder / "sa.pub", public)


def kubeconfig(server: str, cluster: str, authority: Authority, user: str) -> str:
    """Write a kubeconfig that holds everything, so that it can be carried elsewhere."""

    def inline(path: Path) -> str:
        return base64.b64encode(path.read_bytes()).decode()

    return yaml.safe_dump(
        {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [
                {
                    "name": cluster,
                    "cluster": {
                        "server": server,
                        "certificate-authority-data": inline(authority.certificate),
                    },
                }
            ],
            "users": [
                {
                    "name": user,
                    "user": {
                        "client-certificate-data": inline(authority.folder / f"{user}.crt"),
                        "client-key-data": inline(authority.folder / f"{user}.key"),
                    },
                }
            ],
            "contexts": [{"name": cluster, "context": {"cluster": cluster, "user": user}}],
            "current-context": cluster,
        },
        sort_keys=False,
    )


def _holder(identity: Identity) -> Holder:
    hosts = (*(identity.hosts or (identity.name,)), *map(str, identity.addresses))
    return Holder(identity.common_name, hosts, identity.group, client=True)


def _save(folder: Path, name: str, pair: Pair) -> None:
    # The certificate last: its presence says that the pair is whole.
    files.write(folder / f"{name}.key", pair.key, 0o600)
    files.write(folder / f"{name}.crt", pair.certificate)
