"""Reads review histories as JSON on stdin and prints what the public `fsrs` package makes of each review.

In:  {"retention": 0.9, "histories": [[[rating, seconds since the review before], …], …]}
Out: [[[seconds until due, stability, difficulty], …], …]
"""

import json
import sys
from datetime import datetime, timedelta, timezone

from fsrs import Card, Rating, Scheduler

START = datetime(2026, 1, 1, tzinfo=timezone.utc)


def follow(scheduler, history):
    card, at, rows = Card(card_id=1), START, []
    for rating, seconds in history:
        at += timedelta(seconds=seconds)
        card, _ = scheduler.review_card(card, Rating(rating), at)
        rows.append([(card.due - at).total_seconds(), card.stability, card.difficulty])
    return rows


def main():
    given = json.load(sys.stdin)
    scheduler = Scheduler(desired_retention=given["retention"], enable_fuzzing=False)
    json.dump([follow(scheduler, history) for history in given["histories"]], sys.stdout)


main()
