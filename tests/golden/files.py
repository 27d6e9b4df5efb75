"""Golden files: objects as text that people read, compared with what is there."""

import base64
import re

import yaml


class _Dumper(yaml.SafeDumper):
    """Writes texts of several lines as such, and the same thing twice rather than by reference."""

    def ignore_aliases(self, _data):
        return True


def _text(dumper, text):
    style = "|" if "\n" in text else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_Dumper.add_representer(str, _text)


def texts(objects):
    """Return each object as the text of a file, by the file's name, and what Secrets hold."""
    made = {}
    for obj in objects:
        # A digest at the end of a name would give the file another name with every change.
        name = re.sub(r"-[0-9a-f]{8}$", "", obj["metadata"]["name"])
        file = f"{obj['kind'].lower()}-{name}"
        assert f"{file}.yaml" not in made, f"two objects are called {file}"
        made[f"{file}.yaml"] = yaml.dump(obj, Dumper=_Dumper, sort_keys=False, width=1000)
        if obj["kind"] == "Secret":
            for key, held in obj["data"].items():
                made[f"{file}.{key}"] = base64.b64decode(held).decode()
    return made


def write(folder, made):
    """Make `folder` hold exactly these files."""
    folder.mkdir(parents=True, exist_ok=True)
    for path in folder.iterdir():
        path.unlink()
    for name, text in made.items():
        (folder / name).write_text(text)


def there(folder):
    """Return the files in `folder`."""
    return {path.name: path.read_text() for path in folder.iterdir()} if folder.exists() else {}
