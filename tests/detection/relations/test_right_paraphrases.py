"""Right answers in other words, none of which the rules may flag: what the newest of them could trip over."""

from __future__ import annotations

import pytest

from vsr_hallucination.cli.evidence import grounding_of
from vsr_hallucination.detection.pointer import EvidenceIndex
from vsr_hallucination.detection.relations.check import check_relations

RIGHT = [
    ("Excel files up to 10 MB can be uploaded. CSV is supported too.",
     "You can upload Microsoft Excel files up to 10 MB, and CSV.", ""),
    ("The API returns JSON. Errors have a code and a message.",
     "The API returns its data as JSON, and errors carry a code and a message.", ""),
    ("The capital of Australia is Canberra.",
     "Canberra, not Sydney, is the capital of Australia.", "Is Sydney the capital of Australia?"),
    ("The store opens at 9 and closes at 18.", "The store is open from 9 to 18.", ""),
    ("The store is closed on public holidays.", "On public holidays, the store isn't open.", ""),
    ("Access is denied unless the token is valid.", "Access is allowed when the token is valid.", ""),
    ("The door is locked at night. In the morning it is unlocked.", "The door is unlocked in the morning.", ""),
    ("The feature is disabled by default. Admins can enable it.",
     "The feature is enabled by admins when needed.", ""),
    ("Ann approved the budget. Ben rejected the hiring plan.",
     "The budget was approved by Ann and the hiring plan rejected by Ben.", ""),
    ("The test suite passed on the second run after failing on the first.",
     "The test suite passed on the second run.", ""),
    ("Users with the editor role can publish. Viewers can only read.",
     "Editors can publish, while viewers can only read.", ""),
    ("Alice leads the search team. Bob, her deputy, leads the ads team.",
     "Alice leads the search team and Bob leads the ads team.", ""),
    ("Plan A costs 10 dollars. Plan B costs 20 dollars. Plan C costs 20 dollars as well.",
     "Plan B and Plan C cost 20 dollars.", ""),
    ("The north site has 12 staff. The south site has 30 staff, 12 of them engineers.",
     "The south site has 12 engineers among its staff.", ""),
    ('{"user":{"name":"Kim","active":true,"premium":false}}', "Kim is active but not a premium user.", ""),
    ('{"user":{"name":"Kim","active":true,"premium":false}}', "Kim's account is active. It is not premium.", ""),
    ('{"available": false, "restock": "2026-12-10"}',
     "It is not available right now; it will be available again on 10 December 2026.", ""),
    ('{"refundable": false}', "Unfortunately this fare is non-refundable.", ""),
    ('{"open": true, "closes": "18:00"}', "Yes, it is open until 18:00.", ""),
    ('{"is_open": false}', "No, it is closed.", ""),
    ('{"paid": false, "due": "2026-01-03"}', "The invoice has not been paid yet; it is due on 3 January 2026.", ""),
    ('{"city":"Lisbon","country":"PT"}', "Lisbon is in Portugal.", "Which country is Lisbon in?"),
    ('{"repo":"octo/app","stars":120}', "The GitHub repository octo/app has 120 stars.", ""),
    ("Dr. Maria Silva's team found the gene.", "Maria Silva's team found the gene.", ""),
    ("The treaty was signed in Rome.", "The treaty was signed in Rome, Italy.", ""),
    ("The film stars Tom Hanks.", "The film stars the American actor Tom Hanks.", ""),
    ("He plays for FC Bayern.", "He plays for Bayern Munich.", ""),
    ("NASA launched the probe in 2020.",
     "The National Aeronautics and Space Administration launched the probe in 2020.", ""),
    ("The patch fixes CVE-2024-1234 in OpenSSL.",
     "According to the advisory, the patch fixes CVE-2024-1234 in OpenSSL.", ""),
    ("Restart the service, then check the logs.", "1. **Restart** the service.\n2. **Check** the logs.", ""),
    ("To reset, press Menu and choose Reset.",
     "Press Menu, then choose Reset. If you need more help, contact Customer Support.", ""),
    ("The vaccine is never given to infants under six weeks.",
     "Infants under six weeks must not be given the vaccine.", ""),
    ("Members are free to leave at any time.", "Members may leave whenever they want.", ""),
    ("Parking is optional and costs 5 euros.", "Parking costs 5 euros if you want it.", ""),
    ("Helmets are mandatory on the track.", "You must wear a helmet on the track.", ""),
    ("The drug may cause drowsiness. It must never be taken with alcohol.",
     "The drug may cause drowsiness and must never be taken with alcohol.", ""),
    ("It is possible to pay by card. Cash is never accepted.", "You can pay by card, but never in cash.", ""),
    ("The contract could be extended in 2026. The board decided not to.",
     "The contract could have been extended in 2026.", ""),
    ("Only staff can enter the lab.", "Visitors cannot enter the lab.", ""),
    ("Only staff can enter the lab. Visitors can enter with an escort.",
     "Visitors can enter the lab with an escort.", ""),
    ("John's brother Paul runs the shop.", "Paul, John's brother, runs the shop.", ""),
    ("Maria and her sister live in Porto.", "Maria lives in Porto.", ""),
    ("Rain is expected on Monday and sun on Tuesday.", "Tuesday should be sunny, after rain on Monday.", ""),
    ("The team won in Paris and lost in Rome.", "They lost in Rome but won in Paris.", ""),
    ("Revenue rose in Asia and fell in Europe.", "Revenue fell in Europe and rose in Asia.", ""),
    ("Ports 80 and 443 are open; port 22 is closed.", "Port 443 is open.", ""),
    ("Ports 80 and 443 are open; port 22 is closed.", "Port 22 is closed, while ports 80 and 443 are open.", ""),
    ("Adults pay 12 euros and children 6 euros.", "Children pay 6 euros, adults 12.", ""),
    ("The first train leaves at 5:10 and the last train leaves at 23:40.", "The last train leaves at 23:40.", ""),
    ("Version 3 added search and removed tags.", "Version 3 removed tags but added search.", ""),
    ("The manager, who supported the strike, met the workers who opposed it.",
     "The manager supported the strike.", ""),
    ("Smith supported the bill; Jones opposed it.", "Jones opposed the bill.", ""),
    ("The light is green when the battery is full and red when it is empty.",
     "The light is red when the battery is empty.", ""),
    ("The mountain is in the north of Spain, near the border with France.",
     "It lies in northern Spain, close to France.", ""),
    ("The event takes place in May in Berlin.", "The event takes place in Berlin in May.", ""),
    ("The recipe needs butter, sugar and two eggs.", "You need butter, sugar and two eggs. Enjoy!", ""),
    ("Chapter 2 covers loops. Chapter 3 covers functions.",
     "Loops are covered in Chapter 2, functions in Chapter 3.", ""),
    ("The bus stops at Main Street and Park Avenue.", "The bus stops at Main Street and at Park Avenue.", ""),
]  # fmt: skip


@pytest.mark.parametrize(("evidence", "answer", "question"), RIGHT)
def test_a_right_answer_is_not_flagged(evidence: str, answer: str, question: str) -> None:
    name = "evidence.json" if evidence.startswith("{") else "evidence.txt"
    index = EvidenceIndex.build(grounding_of([(name, evidence)]))
    assert check_relations(answer, question, index) == ()
