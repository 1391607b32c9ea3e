"""A release handed on whole: one ZIP, a hub of datasets; what is withheld stays here."""

import base64
import io
import json
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from annotation.models import Release
from annotation.protocols.hotpotqa.tests.pairs import pairs
from annotation.release import release_folder
from annotation.release.publish_release import PublishedRelease, publish_release
from annotation.release.release_folder import push_to_hub, write_zip
from annotation.tests.making import NOW
from common.actions import ActionError

pytestmark = pytest.mark.django_db
TOKEN = "hf_a-secret-of-rita"
NAME = "hollin/pilot"
HEAD = "0" * 40


@dataclass
class Hub:
    """A hub with one dataset: what it was asked, and what it holds."""

    private: bool | None = None
    refuses: bool = False
    files: dict[str, bytes] = field(default_factory=dict)
    tokens: set[str] = field(default_factory=set)

    def create(self, wanted: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        """Make the dataset unless it is there."""
        if self.private is not None:
            return 409, {"url": f"/datasets/{NAME}"}
        self.private = bool(wanted.get("private") or wanted.get("visibility") == "private")
        return 200, {"url": f"/datasets/{NAME}"}

    def commit(self, lines: list[dict[str, Any]]) -> tuple[int, dict[str, Any]]:
        """Take the files of a commit, or refuse it."""
        if self.refuses:
            return 403, {"error": "no room"}
        for line in lines:
            value = line["value"]
            if line["key"] == "file":
                self.files[value["path"]] = base64.b64decode(value["content"])
            elif line["key"] == "deletedFile":
                del self.files[value["path"]]
        return 200, {
            "commitUrl": f"http://127.0.0.1/datasets/{NAME}/commit/{HEAD}",
            "commitOid": HEAD,
            "pullRequestUrl": None,
        }


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    """Return a hub on this machine, to which the environment points."""
    found = Hub()

    class Answers(BaseHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            """Say nothing."""

        def do_GET(self) -> None:
            siblings = [{"rfilename": name} for name in found.files]
            self.say(
                200,
                {"id": NAME, "sha": HEAD, "private": found.private, "siblings": siblings},
            )

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            found.tokens.add(self.headers.get("Authorization", ""))
            if self.path == "/api/repos/create":
                self.say(*found.create(json.loads(body)))
            elif self.path == "/api/validate-yaml":
                self.say(200, {"errors": [], "warnings": []})
            elif "/preupload/" in self.path:
                files = [
                    {"path": file["path"], "uploadMode": "regular", "shouldIgnore": False}
                    for file in json.loads(body)["files"]
                ]
                self.say(200, {"files": files})
            else:
                self.say(*found.commit([json.loads(line) for line in body.splitlines()]))

        def say(self, status: int, value: dict[str, Any]) -> None:
            content = json.dumps(value).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Answers)
    Thread(target=server.serve_forever, daemon=True).start()
    monkeypatch.setenv("HF_ENDPOINT", f"http://127.0.0.1:{server.server_port}")
    monkeypatch.setenv("HF_TOKEN", TOKEN)
    yield found
    server.shutdown()
    server.server_close()


@pytest.fixture
def issued(tmp_path: Path) -> PublishedRelease:
    """Return a release that withholds the answers of its tests."""
    return publish_release(pairs(), tmp_path / "out", NOW)


def contents(folder: Path) -> dict[str, bytes]:
    """Return every file of a folder."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


def test_the_zip_holds_the_release_alone_and_is_the_same_each_time(
    issued: PublishedRelease, tmp_path: Path
) -> None:
    (issued.folder / "notes.txt").write_text("mine")
    first = write_zip(issued.release, issued.folder)
    content = first.read_bytes()
    assert first == tmp_path / "out.zip"
    (issued.folder / "notes.txt").unlink()
    assert write_zip(issued.release, issued.folder).read_bytes() == content
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        found = {name: archive.read(name) for name in archive.namelist()}
    assert found == {f"pilot-1/{name}": each for name, each in contents(issued.folder).items()}
    assert "pilot-1/SHA256SUMS" in found
    assert b"KeeperSecretB" not in b"".join(found.values())
    first.write_bytes(b"something else")
    with pytest.raises(ActionError, match="it is something else"):
        write_zip(issued.release, issued.folder)


def test_the_hub_gets_the_release_privately_and_never_what_is_withheld(
    issued: PublishedRelease, hub: Hub
) -> None:
    assert issued.private
    assert b"KeeperSecretB" in b"".join(contents(issued.private).values())
    address = push_to_hub(issued.release, issued.folder, NAME)
    assert address.endswith(f"/datasets/{NAME}")
    assert hub.private is True
    assert hub.files == contents(issued.folder)
    assert b"KeeperSecretB" not in b"".join(hub.files.values())
    assert hub.tokens == {f"Bearer {TOKEN}"}
    assert TOKEN.encode() not in b"".join(hub.files.values())
    assert TOKEN not in json.dumps(list(Release.objects.values()), default=str)


@pytest.mark.parametrize("other", [1, 3])
def test_what_another_release_had_and_this_one_has_not_is_taken_away(
    issued: PublishedRelease, hub: Hub, other: int
) -> None:
    hub.private, hub.files = True, {"withdrawn.json": b"[]", "mine.txt": b"kept"}
    Release.objects.filter(pk=issued.release.pk).update(number=2)
    Release.objects.create(
        collection=issued.release.collection,
        number=other,
        folder="",
        manifest={"withdrawn.json": {}, "never-pushed.json": {}},
        created_at=NOW,
    )
    push_to_hub(Release.objects.get(number=2), issued.folder, NAME)
    assert set(hub.files) == {*contents(issued.folder), "mine.txt"}


def test_what_everybody_sees_is_written_to_only_when_asked(
    issued: PublishedRelease, hub: Hub
) -> None:
    hub.private = False
    with pytest.raises(ActionError, match="can be seen by everybody: give --public"):
        push_to_hub(issued.release, issued.folder, NAME)
    assert hub.files == {}
    push_to_hub(issued.release, issued.folder, NAME, is_public=True)
    assert hub.files


def test_what_is_private_there_is_not_said_to_be_public(issued: PublishedRelease, hub: Hub) -> None:
    hub.private = True
    with pytest.raises(ActionError, match="is private on the hub: make it public there first"):
        push_to_hub(issued.release, issued.folder, NAME, is_public=True)
    assert hub.files == {}


def test_each_failure_is_one_line_and_the_release_is_there(
    issued: PublishedRelease, hub: Hub, monkeypatch: pytest.MonkeyPatch
) -> None:
    hub.refuses = True

    def refused(sentence: str) -> None:
        with pytest.raises(CommandError, match=sentence) as caught:
            call_command(
                "export_dataset", "pilot", out=issued.folder, push_to_hub=NAME, verbosity=0
            )
        assert "\n" not in str(caught.value)
        assert TOKEN not in str(caught.value)

    refused("The hub has not taken it all: .*403.* Run it again")
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    refused("The hub has not taken it all: ")
    monkeypatch.setenv("HF_TOKEN", "")
    refused("Set HF_TOKEN in the environment")
    monkeypatch.setattr(release_folder.importlib, "import_module", _missing)
    refused("huggingface_hub, which is not installed: make setup-hub")
    with pytest.raises(CommandError, match="give that too"):
        call_command("export_dataset", "pilot", public=True)
    monkeypatch.undo()
    (issued.folder / "votes.parquet").write_bytes(b"other")
    with pytest.raises(ActionError, match="is not as it was released"):
        write_zip(issued.release, issued.folder)


def _missing(name: str) -> None:
    raise ImportError(name)
