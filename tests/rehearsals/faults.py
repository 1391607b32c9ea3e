"""Faults of one line each, where people would lose money, votes or secrets, and who must notice."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Fault:
    """A line that is put in the place of another one, and the tests of which one must fail."""

    name: str
    path: str
    right: str
    wrong: str
    tests: str


FAULTS = (
    Fault(
        "somebody talks with themselves",
        "tasks/dialog/pairing.py",
        "others = {comer.worker, *avoided.get(comer.worker, ())}",
        "others = {*avoided.get(comer.worker, ())}",
        "tasks/dialog/tests/test_matching.py",
    ),
    Fault(
        "somebody meets whom they have reported",
        "tasks/dialog/pairing.py",
        "others = {comer.worker, *avoided.get(comer.worker, ())}",
        "others = {comer.worker}",
        "tasks/dialog/tests/test_matching.py",
    ),
    Fault(
        "a dialog outlives its last unanswerable question",
        "tasks/work/dialog_rules.py",
        "if answered.unanswerable >= limits.max_unanswerable:",
        "if answered.unanswerable > limits.max_unanswerable:",
        "tasks/dialog/tests/test_rules.py",
    ),
    Fault(
        "a student gets the section",
        "tasks/dialog/partner_view.py",
        "    if role is Role.TEACHER:\n        ",
        "    if role is not None:\n        ",
        "tasks/dialog/tests/test_secrecy.py",
    ),
    Fault(
        "every turn is paid like the first",
        "tasks/work/dialog_rules.py",
        "sum(schedule[:completed])",
        "completed * schedule[0]",
        "tasks/dialog/tests/test_rules.py",
    ),
    Fault(
        "a worker gets a unit twice",
        "tasks/work/leases.py",
        '.exclude(Exists(mine.filter(unit=OuterRef("pk"))))',
        ".all()",
        "tasks/tests/test_leases.py",
    ),
    Fault(
        "questions are written by whom the linked texts were shown",
        "tasks/work/kinds/question.py",
        "return units.exclude(Exists(items))",
        "return units",
        "tasks/tests/test_leases.py",
    ),
    Fault(
        "a slot is won by everybody who comes at once",
        "tasks/work/leases.py",
        "AND closed = FALSE AND taken < redundancy",
        "AND closed = FALSE",
        "tests/test_races.py",
    ),
    Fault(
        "more is held than the budget has",
        "tasks/ledger/budget.py",
        "WHERE id = %(collection)s AND reserved_cents + spent_cents + %(cents)s <= budget_cents",
        "WHERE id = %(collection)s",
        "tests/test_races.py",
    ),
    Fault(
        "a collection costs more than its maximum",
        "tasks/ledger/budget.py",
        "AND (maximum_cents IS NULL OR reserved_cents + spent_cents + %(cents)s <= maximum_cents)",
        "",
        "tasks/tests/test_publication.py",
    ),
    Fault(
        "a provider's least fee is forgotten",
        "tasks/ledger/budget.py",
        "max(pay.min_fee_cents, ",
        "max(0, ",
        "tasks/tests/test_estimates.py",
    ),
    Fault(
        "what is held for one lease is spent of another's",
        "tasks/ledger/payments.py",
        "held = lease.reserved_cents or posting.reserved_cents",
        "held = posting.reserved_cents",
        "tasks/tests/test_submissions.py",
    ),
    Fault(
        "one person alone rejects work at once",
        "tasks/paying/rejections.py",
        "if row.proposed_by == by and now < row.alone_from:",
        "if row.proposed_by == by and now < row.proposed_at:",
        "tasks/tests/test_rejections.py",
    ),
    Fault(
        "a requester spends what they do not have",
        "marketplace/funds.py",
        "AND balance_cents >= %s",
        "AND balance_cents + %s IS NOT NULL",
        "marketplace/tests/test_money.py",
    ),
    Fault(
        "what was paid is owed again",
        "marketplace/funds.py",
        "return _total(earned) - _total(paid)",
        "return _total(earned)",
        "marketplace/tests/test_payout_lists.py",
    ),
    Fault(
        "a question is kept without enough equal answers",
        "annotation/protocols/iirc/validation.py",
        "if len(agreeing) < min(parameters.agreement.min_agreeing, len(cast)):",
        "if not agreeing:",
        "annotation/protocols/iirc/tests/test_validation.py",
    ),
    Fault(
        "a number agrees with words",
        "annotation/protocols/iirc/validation.py",
        "if one.type != other.type:",
        'if "bad" in (one.type, other.type):',
        "annotation/protocols/iirc/tests/test_validation.py",
    ),
    Fault(
        "agreement counts pairs of one and the same annotator",
        "annotation/agreement/kappa.py",
        "agreeing = (table * (table - 1)).sum(axis=1) / pairs",
        "agreeing = (table * table).sum(axis=1) / pairs",
        "annotation/agreement/tests",
    ),
    Fault(
        "a test split's answers are released",
        "annotation/records/withholding.py",
        'return question["split"] in withheld\n',
        "return False\n",
        "annotation/protocols/hotpotqa/tests/test_release.py",
    ),
    Fault(
        "a release's names are found by trying",
        "annotation/decisions/records.py",
        "return hmac.new(key.encode(), text.encode(), hashlib.sha256).hexdigest()",
        'return hmac.new(b"collector", text.encode(), hashlib.sha256).hexdigest()',
        "annotation/release/tests",
    ),
    Fault(
        "a frame's address may be forged",
        "tasks/people/entry.py",
        'not query.get("workerId") or not hmac.compare_digest(expected.encode(), given.encode())',
        'not query.get("workerId") or not expected',
        "tasks/tests/test_entry.py",
    ),
    Fault(
        "a page's token is good for another lease",
        "tasks/people/lease_context.py",
        "pk, worker_id = signing.loads(token, salt=LEASE_SALT, max_age=LONGEST_STAY)",
        "pk, worker_id = signing.loads(token, salt=SESSION_SALT, max_age=LONGEST_STAY)",
        "tasks/tests/test_payload.py",
    ),
    Fault(
        "a consent form outlives its stay",
        "tasks/people/lease_context.py",
        "Session.objects.filter(still, pk=pk, worker_id=worker_id)",
        "Session.objects.filter(pk=pk, worker_id=worker_id)",
        "tasks/tests/test_entry.py",
    ),
    Fault(
        "any key signs for a requester",
        "marketplace/wire/signature.py",
        'if not hmac.compare_digest(signer.signature(text, signed), match["signature"]):',
        "if not signer.signature(text, signed):",
        "marketplace/tests/test_signature.py",
    ),
    Fault(
        "an old request is taken again",
        "marketplace/wire/signature.py",
        'if not stamp.startswith(match["day"]) or abs(now - signed_at) > ALLOWED_SKEW:',
        'if not stamp.startswith(match["day"]):',
        "marketplace/tests/test_signature.py",
    ),
)
