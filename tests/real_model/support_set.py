"""Labelled claims of our own: five texts from four domains, six claims each. S: supported, C: contradicted, N: not stated."""

SETS = [
    (
        "travel",
        "The ferry to Saltholm runs from April to October. The last boat leaves the mole at 21:40, except on Sundays, when it "
        "leaves at 18:15. Bicycles travel free of charge, but each group may bring no more than four. Dogs must wear a muzzle.",
        [
            ("S", "On weekdays the last boat departs at 21:40."),
            ("S", "Taking a bicycle on the ferry costs nothing."),
            ("C", "The ferry also runs in January."),
            ("C", "On Sundays the last boat leaves at 21:40."),
            ("N", "The crossing takes 35 minutes."),
            ("N", "Tickets are sold on board."),
        ],
    ),
    (
        "medicine",
        "Adults take one tablet of Verolin in the morning with a glass of water. Do not take Verolin together with grapefruit "
        "juice, because it raises the level of the drug in the blood. The most common side effects are headache and a dry "
        "mouth; they usually pass within a week. Keep the tablets below 25 °C.",
        [
            ("S", "Verolin is taken once a day by adults."),
            ("S", "Headache is a frequent side effect of Verolin."),
            ("C", "Verolin should be swallowed in the evening."),
            ("C", "Grapefruit juice lowers the level of Verolin in the blood."),
            ("N", "Verolin may be taken during pregnancy."),
            ("N", "Each pack contains thirty tablets."),
        ],
    ),
    (
        "employment",
        "Employees have 28 days of paid holiday a year. Up to five unused days can be carried over until 31 March of the next "
        "year. Requests must be made at least three weeks in advance and are approved by the team leader. During the "
        "probation of six months no more than ten days may be taken.",
        [
            ("S", "The team leader approves holiday requests."),
            ("S", "The probation lasts half a year."),
            ("C", "Unused holiday can be carried over until the end of June."),
            ("C", "Employees get 25 days of paid holiday per year."),
            ("N", "Unused holiday is paid out when an employee leaves."),
            ("N", "Employees may work from home two days a week."),
        ],
    ),
    (
        "machines",
        "Before cleaning, switch the Marsala 3 off and let it cool for at least 30 minutes. The water tank holds 1.8 litres. "
        "The red lamp blinks when the descaling programme is due, which is after about 200 cups. Use only citric acid; "
        "vinegar damages the seals.",
        [
            ("S", "Vinegar harms the seals of the machine."),
            ("S", "A blinking red light means that the machine should be descaled."),
            ("C", "The water tank of the Marsala 3 holds 2.5 litres."),
            ("C", "The machine can be cleaned while it is hot."),
            ("N", "The Marsala 3 has a warranty of two years."),
            ("N", "The milk frother can go into the dishwasher."),
        ],
    ),
    (
        "employment, German",
        "Die Kündigungsfrist beträgt drei Monate zum Monatsende. In der Probezeit von sechs Monaten kann mit einer Frist von zwei "
        "Wochen gekündigt werden. Die Kündigung bedarf der Schriftform; eine E-Mail genügt nicht.",
        [
            ("S", "Die Probezeit dauert sechs Monate."),
            ("S", "Eine Kündigung per E-Mail ist nicht wirksam."),
            ("C", "Nach der Probezeit beträgt die Kündigungsfrist vier Wochen."),
            ("C", "Während der Probezeit kann nicht gekündigt werden."),
            ("N", "Nach zehn Jahren verlängert sich die Kündigungsfrist."),
            ("N", "Der Betriebsrat muss der Kündigung zustimmen."),
        ],
    ),
]
CLAIMS = [(domain, text, label, claim) for domain, text, claims in SETS for label, claim in claims]


def auc(positive, negative):
    """The share of pairs in which the positive one has the higher value; ties count half."""
    pairs = [(p > n) + (p == n) / 2 for p in positive for n in negative]
    return sum(pairs) / len(pairs)
