"""What was chosen for a peer at a shape, kept beside the compilers' caches for the next run."""

import hashlib
import json
import os
import tempfile


class Choices:
    """A folder with one file for each peer and shape."""

    def __init__(self, folder):
        self.folder = folder
        os.makedirs(folder, exist_ok=True)

    def path(self, peer, problem, extra=""):
        text = "\n".join([peer, problem.text, str(extra)])
        return os.path.join(self.folder, hashlib.sha256(text.encode()).hexdigest()[:20] + ".json")

    def get(self, *key):
        """What was put, or None; a file that something damaged counts as none."""
        try:
            with open(self.path(*key), encoding="utf-8") as file:
                return json.load(file)
        except (FileNotFoundError, ValueError):
            return None

    def put(self, value, *key):
        # Renamed into place: several processes write here.
        with tempfile.NamedTemporaryFile(
            "w", dir=self.folder, suffix=".new", delete=False, encoding="utf-8"
        ) as file:
            json.dump(value, file)
        os.replace(file.name, self.path(*key))


def hash_of_sources():
    """Changes with any file of this program."""
    root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    digest = hashlib.sha256()
    for folder in (root, os.path.join(root, "ops"), os.path.join(root, "runtime")):
        for name in sorted(os.listdir(folder)):
            if name.endswith(".py"):
                with open(os.path.join(folder, name), "rb") as file:
                    digest.update(file.read())
    return digest.hexdigest()
