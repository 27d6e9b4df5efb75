"""What Secrets and ConfigMaps hold."""

import base64

import msgspec

from shoal.kube.data import ConfigMap, Secret


def read(type_, **body):
    return msgspec.convert({"metadata": {"name": "n", "namespace": "s"}, **body}, type_)


def test_a_configmap_holds_its_texts_and_its_bytes():
    coded = base64.b64encode(b"\xff\0").decode()
    found = read(ConfigMap, data={"a": "ä"}, binaryData={"b": coded})
    assert found.files == {"a": "ä".encode(), "b": b"\xff\0"}


def test_a_secret_holds_what_was_put_in():
    coded = base64.b64encode(b"\xffkey\n").decode()
    assert read(Secret, data={"k": coded, "empty": ""}).files == {"k": b"\xffkey\n", "empty": b""}


def test_one_without_data_holds_nothing():
    assert read(ConfigMap).files == read(Secret).files == {}
    assert read(ConfigMap, data=None, binaryData=None).files == {}


def test_an_entry_that_is_not_encoded_is_passed_over_and_the_others_are_read():
    found = read(Secret, data={"bad": "no base64!", "worse": "ä", "good": "eA=="})
    assert found.files == {"good": b"x"}


def test_a_secret_is_not_shown_by_accident():
    coded = base64.b64encode(b"hidden").decode()
    shown = read(Secret, data={"password": coded})
    for text in (repr(shown), str(shown), f"{[shown]}"):
        assert coded not in text
        assert "hidden" not in text
        assert "s/n" in text
