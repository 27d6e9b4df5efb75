"""`shoal local`: a real Kubernetes on this machine."""

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import click

from ..host import processes
from ..local import claims, leftovers, machines, nodes, packages, programs
from ..local import down as downs
from ..local import images as image_builds
from ..local import load as loads
from ..local import up as ups
from ..local.api import Api, ready_nodes, wait_for_nodes
from ..local.bar import progress
from ..local.cluster import EXTRAS, Cluster, Networked, every
from ..local.cluster import load as load_cluster
from ..local.errors import LocalError
from .environment import settings

NAME = click.option("--name", default="shoal", show_default=True, help="Which cluster.")


def existing(name: str) -> Cluster:
    """Return the cluster `name`, or say which there are."""
    ups.check_name(name)
    found = load_cluster(settings().state / name)
    if found is None:
        others = ", ".join(cluster.name for cluster in every(settings().state)) or "none"
        raise LocalError(
            f"there is no cluster {name} (there is: {others})", "`shoal local up` makes one"
        )
    return found


def api_of(cluster: Cluster) -> Api:
    """Return the way to a cluster that is up; its programs were built by `up`."""
    wanted = ups.needed_programs(cluster)
    return Api(cluster, programs.provide(settings(), progress(sys.stderr), wanted))


@click.group()
def local() -> None:
    """Run a real Kubernetes with real Slurm images on this machine."""


@local.command()
@NAME
@click.option("--nodes", "count", type=int, help="How many nodes.  [default: 1]")
@click.option(
    "--control-plane-only", is_flag=True, help="Only etcd and the API server, on loopback ports."
)
@click.option(
    "--with", "extras", default="", help=f"What a control plane runs beside: {', '.join(EXTRAS)}."
)
@click.option(
    "--audit",
    is_flag=True,
    help="Write every request to the API server into control-plane/audit.log.",
)
@click.option("--port", type=int, help="The API server's port (--control-plane-only).")
@click.option(
    "--images", "wanted", default="none", show_default=True,
    help="Images to build and load: all, none, slinky, nebius, or names such as slurmd:26.05.",
)  # fmt: skip
def up(  # noqa: PLR0913 - one argument for each option
    *, name: str, count: int | None, control_plane_only: bool, extras: str, port: int | None,
    audit: bool, wanted: str,
) -> None:  # fmt: skip
    """Make a cluster, or mend the one there is."""
    if unknown := sorted(set(_words(extras)) - set(EXTRAS)):
        raise LocalError(f"--with {','.join(unknown)}", f"one of: {', '.join(EXTRAS)}")
    asked = ups.Wanted(
        name=name,
        nodes=count,
        control_plane_only=control_plane_only,
        extras=_words(extras),
        images=image_builds.named(_words(wanted)),
        port=port,
        audited=audit,
    )
    api = ups.up(settings(), asked, progress(sys.stderr))
    click.echo(f"cluster {name} is up at {api.cluster.server}")
    click.echo(f'use it:  eval "$(shoal local env --name {name})"; kubectl get nodes')
    for orphan in leftovers.abandoned():
        click.echo(
            f"note: {orphan.folder} was deleted while its cluster was up;"
            f" `{claims.down_of(orphan.folder)}` removes what is left of it",
            err=True,
        )


@local.command()
@NAME
def down(name: str) -> None:
    """Remove a cluster and everything it made."""
    ups.check_name(name)
    folder = settings().state / name
    # Somebody may have deleted its folder: its processes are still to be ended.
    cluster = load_cluster(folder) or leftovers.orphan(folder)
    if cluster is None:
        click.echo(f"there is no cluster {name}")
        return
    downs.down(settings(), cluster)
    click.echo(f"cluster {name} is gone")


@local.command()
@NAME
def status(name: str) -> None:
    """Show a cluster's machines and programs; exit code 1 when one does not run."""
    cluster = existing(name)
    api = api_of(cluster)
    answering = api.ready()
    serving = ready_nodes(api) if answering else set()
    click.echo(f"{name}: {cluster.server} {'ready' if answering else 'NOT READY'}")
    well = answering
    for machine_name, machine in machines.every(cluster).items():
        running = machine.programs()
        state = "running" if machine.process() else "STOPPED"
        if machine_name in cluster.node_names:
            state += ", Ready" if machine_name in serving else ", NOT READY"
            well &= machine_name in serving
        well &= machine.process() is not None
        click.echo(f"  {machine_name}: {state}")
        for program, process in sorted(running.items()):
            size = processes.memory_bytes(process) >> 20
            click.echo(f"    {program:<26} pid {process.pid:<8} {size:>5} MiB")
        for program in sorted(set(machine.kept()) - set(running)) if machine.process() else ():
            well = False
            click.echo(f"    {program:<26} NOT RUNNING")
    sys.exit(0 if well else 1)


@local.command()
@NAME
def env(name: str) -> None:
    """Print what a shell needs: eval "$(shoal local env)"."""
    api = api_of(existing(name))
    click.echo(f"export KUBECONFIG={api.cluster.kubeconfig}")
    click.echo(f'export PATH={api.programs}:"$PATH"')
    if isinstance(api.cluster.place, Networked):
        # Where a webhook or a server on this machine is reached from inside the cluster.
        click.echo(f"export SHOAL_HOST={api.cluster.place.addresses.host}")


@local.command()
@NAME
def kubeconfig(name: str) -> None:
    """Print the administrator's kubeconfig."""
    click.echo(existing(name).kubeconfig.read_text(), nl=False)


@local.command()
@NAME
@click.argument("wanted", nargs=-1, required=True, metavar="IMAGE|ARCHIVE...")
def load(name: str, wanted: Sequence[str]) -> None:
    """Load images into every node: ours by name (built when needed), or archives."""
    cluster, show = existing(name), progress(sys.stderr)
    archives = [word for word in wanted if word.endswith(".tar") or Path(word).is_file()]
    if missing := [word for word in archives if not Path(word).is_file()]:
        raise LocalError(f"{missing[0]}: no such file", "name an image archive that is there")
    names = image_builds.named([word for word in wanted if word not in archives])
    for archive in archives:
        loads.load_archive(cluster, Path(archive))
    if names:
        built = _built(names)
        with show.part("loading images", 5 + 3 * len(built)) as part:
            loads.load_everywhere(cluster, built, part)


@local.command()
@click.argument("wanted", nargs=-1, metavar="IMAGE...")
def images(wanted: Sequence[str]) -> None:
    """Build images (all by default) and print where their archives are; needs no cluster."""
    for image in _built(image_builds.named(wanted or ("all",))):
        click.echo(f"{image.name} {image.archive}")


def _built(names: Sequence[str]) -> list[image_builds.Image]:
    where, show = settings(), progress(sys.stderr)
    packages.ensure(where, show, packages.IMAGES)
    found = programs.provide(where, show, ("machine",))
    return image_builds.build(where, names, found, show)


@local.command()
@NAME
@click.argument("machine", required=False)
@click.argument("program", required=False)
@click.option("-n", "--lines", default=50, show_default=True, help="How much of each log.")
@click.option("-f", "--follow", is_flag=True, help="Go on as they grow.")
def logs(*, name: str, machine: str | None, program: str | None, lines: int, follow: bool) -> None:
    """Show the logs of a cluster's programs: all, one machine's (cp, n0, ...), or one's."""
    known = machines.every(existing(name))
    if machine is not None and machine not in known:
        raise LocalError(f"there is no machine {machine}", f"one of: {', '.join(known)}")
    chosen = [known[machine]] if machine else list(known.values())
    found = sorted(p for m in chosen for p in m.logs.glob(f"{program or '*'}.log"))
    if not found:
        there = sorted({p.stem for m in chosen for p in m.logs.glob("*.log")})
        raise LocalError(f"there is no log of {program}", f"one of: {', '.join(there)}")
    os.execvp("tail", ["tail", f"--lines={lines}", *(["-F"] if follow else []), *map(str, found)])


@local.command("exec", context_settings={"ignore_unknown_options": True})
@NAME
@click.argument("machine")
@click.argument("command", nargs=-1, type=click.UNPROCESSED)
def execute(name: str, machine: str, command: Sequence[str]) -> None:
    """Run a command (or a shell) inside a machine: cp, n0, ..."""
    known = machines.every(existing(name))
    if machine not in known:
        raise LocalError(f"there is no machine {machine}", f"one of: {', '.join(known)}")
    try:
        inside = known[machine].inside()
    except LookupError as stopped:
        raise LocalError(str(stopped), f"`shoal local node start {machine}`") from stopped
    sys.exit(subprocess.call([*inside, *(command or ("/bin/bash",))]))


@local.group()
def node() -> None:
    """Do to a node what happens to nodes."""


NODE = click.argument("node_name", metavar="NODE")


@node.command()
@NAME
@NODE
def stop(name: str, node_name: str) -> None:
    """Cut its power."""
    nodes.stop(existing(name), node_name)


@node.command()
@NAME
@NODE
def start(name: str, node_name: str) -> None:
    """Switch it on, and wait until it is Ready."""
    api = api_of(existing(name))
    nodes.start(api, node_name)
    wait_for_nodes(api, [node_name])


@node.command()
@NAME
@NODE
def reboot(name: str, node_name: str) -> None:
    """Cut its power, switch it on (with a new boot id), and wait until it is Ready."""
    api = api_of(existing(name))
    nodes.reboot(api, node_name)
    wait_for_nodes(api, [node_name])


@node.command()
@NAME
@NODE
def partition(name: str, node_name: str) -> None:
    """Pull its cable."""
    nodes.partition(existing(name), node_name)


@node.command()
@NAME
@NODE
def heal(name: str, node_name: str) -> None:
    """Put its cable back."""
    nodes.heal(existing(name), node_name)


def _words(text: str) -> tuple[str, ...]:
    return tuple(word for word in text.replace(",", " ").split() if word)
