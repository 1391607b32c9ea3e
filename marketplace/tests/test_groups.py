"""Groups of the host's over the API: found, listed, required alone or of several any one."""

from typing import Any

from marketplace import clock
from marketplace.hits.access import audience_of
from marketplace.models import HIT, Assignment, QualificationType
from marketplace.people.grants import add_members, make_group, remove_member
from marketplace.tests.refusals import refused
from marketplace.tests.visitor import Visitor

HIDDEN = {"Comparator": "Exists", "ActionsGuarded": "DiscoverPreviewAndAccept"}


def group(name: str, *members: Visitor) -> QualificationType:
    row = make_group(name, "", clock.now()).qualification_type
    add_members(row, [one.worker for one in members], clock.now())
    return row


def either(client: Any, *rows: QualificationType) -> str:
    """Return the id of a type that whoever is in one of the groups has."""
    made = client.create_qualification_type(
        Name=f"Member of {' or '.join(row.name for row in rows)}",
        Description="Whoever is in one of these groups has it.",
        Keywords=", ".join(f"any-of:{row.qualification_type_id}" for row in rows),
        QualificationTypeStatus="Active",
    )
    return made["QualificationType"]["QualificationTypeId"]


def sees(visitor: Visitor) -> bool:
    return "Ask questions about a passage" in visitor.get("/hits/").content.decode()


def test_programs_find_groups_and_their_members_by_id(
    rita: Any, other_requester: Any, ada: Visitor, grace: Visitor
) -> None:
    panel = group("Lab panel", ada, grace)
    search = {"Query": "group", "MustBeRequestable": False}
    (found,) = rita.list_qualification_types(**search)["QualificationTypes"]
    told = (found["Name"], found["Keywords"], found["QualificationTypeStatus"])
    assert told == ("Lab panel", "group", "Inactive")
    assert not rita.list_qualification_types(**search | {"MustBeRequestable": True})[
        "QualificationTypes"
    ]
    listed = {"QualificationTypeId": found["QualificationTypeId"]}
    members = rita.list_workers_with_qualification_type(**listed)["Qualifications"]
    assert {one["WorkerId"] for one in members} == {ada.worker.worker_id, grace.worker.worker_id}
    remove_member(panel, grace.worker, clock.now())
    members = rita.list_workers_with_qualification_type(**listed)["Qualifications"]
    assert [one["WorkerId"] for one in members] == [ada.worker.worker_id]
    with refused("QualificationTypeDoesNotExist"):
        rita.associate_qualification_with_worker(**listed, WorkerId=grace.worker.worker_id)
    secret = either(other_requester, panel)
    with refused("QualificationTypeDoesNotExist"):
        rita.list_workers_with_qualification_type(QualificationTypeId=secret)


def test_of_several_groups_members_of_any_see_and_take_a_hit(
    rita: Any, make_hit: Any, ada: Visitor, grace: Visitor, mallory: Visitor
) -> None:
    panel, class_a = group("Lab panel", ada), group("Class A", grace)
    need = {"QualificationTypeId": either(rita, panel, class_a), **HIDDEN}
    hit = make_hit(rita, QualificationRequirements=[need], MaxAssignments=5)
    assert [sees(ada), sees(grace), sees(mallory)] == [True, True, False]
    mallory.send(f"/hits/{hit['HITId']}/accept/")
    held = ada.accept(hit)
    assert [one.worker.display_name for one in Assignment.objects.all()] == ["Ada"]
    add_members(panel, [mallory.worker], clock.now())
    remove_member(panel, ada.worker, clock.now())
    assert sees(mallory)
    found = audience_of(HIT.objects.select_related("hit_type").get().hit_type)
    assert (found.n_workers, found.n_can_see) == (3, 2)
    # What she holds she may finish; another one she is not shown.
    assert held.submit(answer="42").status_code == 200
    another = make_hit(rita, QualificationRequirements=[need])
    ada.send(f"/hits/{another['HITId']}/accept/")
    assert not sees(ada)
    assert Assignment.objects.count() == 1


def test_another_requester_s_own_qualification_is_nobody_s_way_in(
    rita: Any, other_requester: Any, make_hit: Any, ada: Visitor
) -> None:
    made = rita.create_qualification_type(
        Name="Ill before", Description="Private.", QualificationTypeStatus="Active"
    )["QualificationType"]["QualificationTypeId"]
    rita.associate_qualification_with_worker(
        QualificationTypeId=made, WorkerId=ada.worker.worker_id
    )
    row = QualificationType.objects.get(qualification_type_id=made)
    need = {"QualificationTypeId": either(other_requester, row), **HIDDEN}
    make_hit(other_requester, QualificationRequirements=[need])
    assert audience_of(HIT.objects.select_related("hit_type").get().hit_type).n_can_see == 0
