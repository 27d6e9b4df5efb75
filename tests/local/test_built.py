"""What clusters are made of can be built; the other suites wait for it.

Not shoal's own image, which every edit changes: the one test that needs it builds it.
"""

import sys
from concurrent.futures import ThreadPoolExecutor

from shoal.cli.environment import settings
from shoal.local import images, packages, programs
from shoal.local.bar import progress


def test_every_program_and_image_is_in_the_cache_or_built():
    where, show = settings(), progress(sys.stderr)
    packages.ensure(where, show, (*packages.CLUSTER, *packages.IMAGES))
    slurm = (name for series in images.SERIES for name in images.SLURM[series])
    names = images.named((*slurm, "mariadb")) + images.GROUND
    own = programs.provide(where, show, ("machine",))
    # As `up` does: Go uses the processors, and the images wait for downloads.
    with ThreadPoolExecutor(1) as beside:
        building = beside.submit(images.build, where, names, own, show)
        folder = programs.provide(where, show, tuple(programs.PROGRAMS))
        built = building.result()
    assert {file.name for file in folder.iterdir()} == set(programs.PROGRAMS)
    assert [image.name for image in built if not image.archive.is_file()] == []
    assert len(built) == len(set(names))
