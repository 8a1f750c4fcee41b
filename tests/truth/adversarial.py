"""Citations made to deceive, and citations that only look different: passage, citation, and what was done to it."""

from __future__ import annotations

from typing import NamedTuple


class Attempt(NamedTuple):
    """A citation, the passage that it is said to come from, and what was done to it."""

    what: str
    passage: str
    citation: str


FERRY = (
    "The last ferry to Verrin leaves at 21:40 from pier 3. Tickets cost 4.50 crowns for adults, and children under 6 travel free. "
    "No ferries run on 24 December. Dogs are allowed on deck but not in the saloon."
)
REPORT = (
    "Net revenue rose by 3.5 % to $19 million in fiscal 2021, while operating loss was (412) thousand. Shares outstanding were 1,900,250. "
    "The company did not pay dividends in 2020 or 2021. Dr. Ilse Korda has been chief executive since 4 March 2018."
)
MEDICINE = (
    "Tavelin lowers hypertension in adults. The usual dose is 250 mg twice daily, never more than 1 g a day. It must be stored below -5 °C. "
    "Patients with renal impairment should not take it with methanol. Side effects were asymptomatic in 12 of 340 patients."
)
TABLE = "| Route | Departs | Price |\n|---|---|---|\n| Verrin | 21:40 | 4.50 |\n| Dunmere | 22:10 | 6.00 |\n| Saltholm | 23:05 | 9.25 |"
TABS = "Pump\tPower\tFlow\nP-101\t5 MW\t320 l/s\nP-102\t7 MW\t410 l/s"
HYPHENS = (
    "The infor-\nmation desk is open daily. Pas-\nsengers with bicycles board first; foot pas-\nsengers follow. The harbour is a well-\nknown "
    "land-\nmark of the old town."
)
ASKED = "Is there a night boat? No. Ferries run from Dunmere until noon. Did the captain resign? He did not. The mate took over."
GERMAN = (
    "Die letzte Fähre nach Brünsby legt um 21:40 Uhr ab. Eine Fahrkarte kostet 4,50 Kronen. Am Sonntag fährt die Fähre nicht. "
    "Die Boote wurden 1931 in Hallenau gebaut, und zwar für höchstens 120 Fahrgäste."
)
GERMAN_HYPHENS = (
    "Die Hafen-\nverwaltung hat ihre Öff-\nnungszeiten geändert. Der Schiffs-\nverkehr ruht von 22 bis 5 Uhr."
)
CHINESE = "开往临港的末班渡轮于21:40发船。成人票价为4.50克朗，6岁以下儿童免费。星期日渡轮不开。该船长120米，由林海于1931年建造。"
QUOTED = "The clerk said: “The ‘Maren’ — our oldest ship — can’t sail before May.” Its oﬃcial crew ﬂoats between 12–14 sailors."
SCANNED = "The government announced modernisation of the harbour. Workers complained about the management, and the committee summoned them."
NOTED = (
    "The Alps[1] stretch for 1,200 km across eight countries.[2] Mont Blanc[a] is the highest mountain at 4,809 m.[3]"
)
CODE = "The driver is written in C++ and needs x > 5 and y < 3. A water molecule weighs 3 × 10⁻²³ g; 10² is one hundred. The pump draws 5 mW."
WORDS = "Twenty-five boats and two hundred thousand crowns were lost. It is not true that the Maren sank in 1902. Emigrants left Austria."

CHANGES_MEANING = [
    Attempt("number", FERRY, "The last ferry to Verrin leaves at 21:10 from pier 3."),
    Attempt("number", FERRY, "The last ferry to Verrin leaves at 21:40 from pier 2."),
    Attempt("number", FERRY, "Tickets cost 5.50 crowns for adults"),
    Attempt("number", FERRY, "Tickets cost 450 crowns for adults"),
    Attempt("number", FERRY, "Tickets cost 4,50 crowns for adults"),
    Attempt("number", FERRY, "Tickets cost 4 50 crowns for adults"),
    Attempt("number", FERRY, "50 crowns for adults, and children under 6 travel free."),
    Attempt("number", FERRY, "children under 16 travel free"),
    Attempt("number", REPORT, "Net revenue rose by 35 % to $19 million in fiscal 2021"),
    Attempt("number", REPORT, "Net revenue rose by 3.5 % to $9 million in fiscal 2021"),
    Attempt("number", REPORT, "5 % to $19 million in fiscal 2021"),
    Attempt("number", REPORT, "Net revenue rose by 3.5 % to $19"),
    Attempt("number", REPORT, "operating loss was (421) thousand"),
    Attempt("number", REPORT, "operating loss was 412 thousand"),
    Attempt("number", REPORT, "operating loss was (412)"),
    Attempt("number", REPORT, "Shares outstanding were 1,900"),
    Attempt("number", REPORT, "Shares outstanding were 1.900.250"),
    Attempt("number", MEDICINE, "The usual dose is 25 mg twice daily"),
    Attempt("number", MEDICINE, "12 of 34 patients"),
    Attempt("number", MEDICINE, "It must be stored below 5 °C."),
    Attempt("number", CODE, "102 is one hundred"),
    Attempt("number", CODE, "A water molecule weighs 3 × 10²³ g"),
    Attempt("number", WORDS, "five boats and two hundred thousand crowns were lost"),
    Attempt("number", WORDS, "Twenty-five boats and two hundred"),
    Attempt("number", WORDS, "Twenty-five boats and two million thousand crowns were lost"),
    Attempt("number", GERMAN, "Eine Fahrkarte kostet 4.50 Kronen."),
    Attempt("number", GERMAN, "Eine Fahrkarte kostet 450 Kronen."),
    Attempt("number", GERMAN, "für höchstens 12 Fahrgäste"),
    Attempt("number", CHINESE, "成人票价为4.80克朗"),
    Attempt("number", CHINESE, "16岁以下儿童免费"),
    Attempt("number", QUOTED, "crew floats between 12.14 sailors"),
    Attempt("number", QUOTED, "crew floats between 12 14 sailors"),
    Attempt("date", FERRY, "No ferries run on 25 December."),
    Attempt("date", FERRY, "No ferries run on 24 November."),
    Attempt("date", REPORT, "Dr. Ilse Korda has been chief executive since 4 March 2008."),
    Attempt("date", REPORT, "Dr. Ilse Korda has been chief executive since 4 May 2018."),
    Attempt("date", REPORT, "Dr. Ilse Korda has been chief executive since March 4 2018."),
    Attempt("date", GERMAN, "Die Boote wurden 1913 in Hallenau gebaut"),
    Attempt("date", CHINESE, "由林海于1913年建造"),
    Attempt("date", QUOTED, "our oldest ship can't sail before March"),
    Attempt("unit", MEDICINE, "The usual dose is 250 g twice daily"),
    Attempt("unit", MEDICINE, "The usual dose is 250 µg twice daily"),
    Attempt("unit", MEDICINE, "It must be stored below -5 °F."),
    Attempt("unit", MEDICINE, "It must be stored below -5 % C."),
    Attempt("unit", REPORT, "Net revenue rose by 3.5 to $19 million in fiscal 2021"),
    Attempt("unit", REPORT, "Net revenue rose by 3.5 % to €19 million in fiscal 2021"),
    Attempt("unit", REPORT, "Net revenue rose by 3.5 % to 19 million in fiscal 2021"),
    Attempt("unit", REPORT, "Net revenue rose by 3.5"),
    Attempt("unit", REPORT, "Net revenue rose by 3.5 % to $19 billion in fiscal 2021"),
    Attempt("unit", REPORT, "operating loss was (412) million"),
    Attempt("unit", CODE, "The pump draws 5 MW."),
    Attempt("unit", TABS, "P-101 5 mW"),
    Attempt("unit", CHINESE, "该船长120公里"),
    Attempt("unit", GERMAN, "Eine Fahrkarte kostet 4,50 Dollar."),
    Attempt("sign", CODE, "needs x < 5 and y < 3"),
    Attempt("sign", CODE, "The driver is written in C and needs x > 5"),
    Attempt("sign", CODE, "The driver is written in C# and needs x > 5"),
    Attempt("name", FERRY, "The last ferry to Dunmere leaves at 21:40 from pier 3."),
    Attempt("name", FERRY, "The last ferry to Verrinn leaves at 21:40 from pier 3."),
    Attempt("name", REPORT, "Dr. Ilse Kordas has been chief executive since 4 March 2018."),
    Attempt("name", REPORT, "Dr. Elsa Korda has been chief executive since 4 March 2018."),
    Attempt("name", WORDS, "Emigrants left Australia."),
    Attempt("name", WORDS, "Immigrants left Austria."),
    Attempt("name", GERMAN, "Die letzte Fähre nach Hallenau legt um 21:40 Uhr ab."),
    Attempt("name", CHINESE, "由林涛于1931年建造"),
    Attempt("name", "The clerk told us that it may snow.", "The clerk told US that it may snow."),
    Attempt("name", "The clerk told us that it may snow.", "The clerk told us that IT may snow."),
    Attempt("name", "They will march on the palace.", "They will March on the palace."),
    Attempt("negation", FERRY, "Ferries run on 24 December."),
    Attempt("negation", FERRY, "ferries run on 24 December"),
    Attempt("negation", FERRY, "Dogs are not allowed on deck but not in the saloon."),
    Attempt("negation", FERRY, "Dogs are allowed on deck but in the saloon."),
    Attempt("negation", REPORT, "The company did pay dividends in 2020 or 2021."),
    Attempt("negation", REPORT, "pay dividends in 2020 or 2021"),
    Attempt("negation", MEDICINE, "Patients with renal impairment should take it with methanol."),
    Attempt("negation", MEDICINE, "take it with methanol"),
    Attempt("negation", MEDICINE, "more than 1 g a day"),
    Attempt("negation", MEDICINE, "always more than 1 g a day"),
    Attempt("negation", MEDICINE, "Side effects were symptomatic in 12 of 340 patients."),
    Attempt("negation", WORDS, "the Maren sank in 1902"),
    Attempt("negation", GERMAN, "Am Sonntag fährt die Fähre."),
    Attempt("negation", GERMAN, "Am Sonntag fährt die Fähre"),
    Attempt("negation", GERMAN, "Am Sonntag fährt nicht die Fähre."),
    Attempt("negation", CHINESE, "星期日渡轮开"),
    Attempt("negation", CHINESE, "星期日渡轮"),
    Attempt("negation", QUOTED, "our oldest ship can sail before May"),
    Attempt("negation", "A non-toxic paint is used.", "toxic paint is used"),
    Attempt("negation", "The paint is lead-free and cheap.", "The paint is lead"),
    Attempt("negation", ASKED, "No ferries run from Dunmere until noon."),
    Attempt("negation", "No ferries run from Dunmere.", "No. Ferries run from Dunmere."),
    Attempt("negation", "Smoking is permitted, not drinking.", "Smoking is permitted not, drinking."),
    Attempt("negation", "船长并非英国人，他来自石浦。", "船长并英国人"),
    Attempt("negation", "船は今日は出ない。", "船は今日は出"),
    Attempt("negation", "It is not true to write: The Maren is 48 metres long.", "The Maren is 48 metres long."),
    Attempt("other word", MEDICINE, "Tavelin lowers hypotension in adults."),
    Attempt("other word", MEDICINE, "Tavelin raises hypertension in adults."),
    Attempt("other word", MEDICINE, "Patients with renal impairment should not take it with ethanol."),
    Attempt("other word", GERMAN, "Die Boote würden 1931 in Hallenau gebaut"),
    Attempt("other word", SCANNED, "Workers complained about the management, and the committee supposed them."),
    Attempt("other word", "The two parts were clipped together.", "The two parts were dipped together."),
    Attempt("other word", "It is notable that he left.", "It is not able that he left."),
    Attempt("other word", "He is not able to swim.", "He is notable to swim."),
    Attempt("other word", "The complaint was filed by the employer.", "The compliant was filed by the employer."),
    Attempt("other word", "The complaint was filed by the employer.", "The complaint was filed by the employee."),
    Attempt("other word", "Imports decreased by a tenth.", "Imports increased by a tenth."),
    Attempt("other word", "The club has signed him.", "The club has resigned him."),
    Attempt("swapped", "The dog bit the postman in the yard.", "The postman bit the dog in the yard."),
    Attempt("swapped", REPORT, "The company did not pay dividends in 2021 or 2020."),
    Attempt("swapped", FERRY, "Dogs are allowed in the saloon but not on deck."),
    Attempt("swapped", GERMAN, "Die Fähre fährt am Sonntag nicht."),
    Attempt("swapped", CHINESE, "渡轮星期日不开"),
    Attempt("merged", FERRY, "The last ferry to Verrin leaves at 21:40 and children under 6 travel free."),
    Attempt("merged", FERRY, "The last ferry to Verrin leaves at 21:40 from pier 3 tickets cost 4.50 crowns"),
    Attempt("merged", FERRY, "The last ferry to Verrin … Dogs are allowed on deck"),
    Attempt("merged", REPORT, "Net revenue rose by 3.5 % and the company did not pay dividends in 2020"),
    Attempt("merged", ASKED, "Did the captain resign? He did not the mate took over."),
    Attempt("merged", GERMAN, "Die letzte Fähre nach Brünsby wurde 1931 in Hallenau gebaut"),
    Attempt("merged", CHINESE, "末班渡轮于21:40发船成人票价为4.50克朗"),
    Attempt("merged", CHINESE, "开往临港的末班渡轮由林海于1931年建造"),
    Attempt("merged", TABLE, "Verrin 21:40 6.00"),
    Attempt("merged", TABLE, "4.50 Dunmere 22:10"),
    Attempt("merged", TABLE, "| Verrin | 21:40 | 9.25 |"),
    Attempt("merged", TABS, "P-101 5 MW 410 l/s"),
    Attempt("merged", TABS, "320 l/s P-102 7 MW"),
    Attempt("paraphrase", FERRY, "The final boat for Verrin departs at 21:40."),
    Attempt("paraphrase", FERRY, "Children below the age of 6 do not pay."),
    Attempt("paraphrase", REPORT, "Revenue grew 3.5 percent to 19 million dollars."),
    Attempt("paraphrase", MEDICINE, "Adults usually take 250 mg two times a day."),
    Attempt("paraphrase", GERMAN, "Sonntags gibt es keine Fähre."),
    Attempt("paraphrase", CHINESE, "最后一班船晚上九点四十分离开。"),
    Attempt("made up", FERRY, "Bicycles travel free on weekdays."),
    Attempt("made up", CHINESE, "船上有餐厅。"),
    Attempt("question", "Does the Maren sail on Sundays?", "Does the Maren sail on Sundays."),
    Attempt("question", "The Maren sails on Sundays.", "The Maren sails on Sundays?"),
    Attempt("number", "It weighs .5 kg.", "It weighs 5 kg."),
    Attempt("number", "Sales fell from 12 to 9 in May.", "Sales fell from 9 to 12 in May."),
    Attempt("number", "The limit is 5-10 mg.", "The limit is 5.10 mg."),
    Attempt("number", "Version 2.10 is stable.", "Version 2.1 is stable."),
    Attempt("number", "There are 21 000 ships.", "000 ships"),
    Attempt("number", "Temperatures reached minus 12 °C.", "12 °C"),
    Attempt("number", "收入为二十五万元。", "五万元"),
    Attempt("number", "10^6 cells were counted", "10 6 cells were counted"),
    Attempt("number", "Die Miete beträgt 1.200 Euro.", "Die Miete beträgt 200 Euro."),
    Attempt("date", "It opened on 1/2/2020.", "It opened on 2/1/2020."),
    Attempt("unit", "The area is 5 km².", "The area is 5 km³."),
    Attempt("unit", "Dose: 5 mg/kg daily", "Dose: 5 mg kg daily"),
    Attempt("sign", "p < 0.05 in all groups", "p 0.05 in all groups"),
    Attempt("sign", "The rate is +3 points.", "The rate is -3 points."),
    Attempt("name", "Henry VIII reigned until 1547.", "Henry VII reigned until 1547."),
    Attempt("name", "Room 12B is closed.", "Room 12 is closed."),
    Attempt("negation", "He isn't the owner.", "He is the owner."),
    Attempt("negation", "Only adults may enter the hall.", "adults may enter the hall"),
    Attempt("negation", "He failed to appear in court.", "appear in court"),
    Attempt("negation", "Neither party won.", "party won"),
    Attempt("negation", "Sie fährt nicht.", "Sie fährt."),
    Attempt("negation", "They asked whether the boat had sunk.", "the boat had sunk"),
    Attempt("negation", "该公司没有盈利。", "该公司有盈利"),
    Attempt("negation", "他不是船长。", "是船长"),
    Attempt("negation", "Die Fähre fährt keineswegs täglich.", "Die Fähre fährt täglich."),
    Attempt("other word", "Die Boote durften auslaufen.", "Die Boote dürften auslaufen."),
    Attempt("other word", "The clerk told us about it.", "The clerk told U.S. about it."),
    Attempt("merged", "Anna called Ben. He left.", "Anna called. Ben he left."),
]

HARMLESS = [
    Attempt("as it is", FERRY, "No ferries run on 24 December."),
    Attempt("as it is", REPORT, "Net revenue rose by 3.5 % to $19 million in fiscal 2021"),
    Attempt("as it is", GERMAN, "Am Sonntag fährt die Fähre nicht."),
    Attempt("as it is", CHINESE, "星期日渡轮不开。"),
    Attempt("as it is", CODE, "The driver is written in C++ and needs x > 5 and y < 3."),
    Attempt("as it is", MEDICINE, "It must be stored below -5 °C."),
    Attempt("case", FERRY, "THE LAST FERRY TO VERRIN LEAVES AT 21:40 FROM PIER 3."),
    Attempt("case", FERRY, "the last ferry to verrin leaves at 21:40 from pier 3"),
    Attempt("case", FERRY, "Dogs Are Allowed On Deck But Not In The Saloon"),
    Attempt("case", GERMAN, "die letzte fähre nach brünsby legt um 21:40 uhr ab"),
    Attempt("case", GERMAN, "DIE LETZTE FÄHRE NACH BRÜNSBY LEGT UM 21:40 UHR AB"),
    Attempt("case", FERRY, "Children under 6 travel free."),
    Attempt("white space", FERRY, "The last  ferry to Verrin\nleaves at 21:40\u00a0from pier 3."),
    Attempt("white space", FERRY, "  Tickets cost 4.50 crowns for adults  "),
    Attempt("white space", REPORT, "Net revenue rose by 3.5% to $19 million in fiscal 2021"),
    Attempt("white space", CHINESE, "开往临港的末班渡轮于 21:40 发船"),
    Attempt("white space", FERRY, "The last fer\u200bry to Verrin leaves at 21:40"),
    Attempt("white space", MEDICINE, "It must be stored below -5°C."),
    Attempt("punctuation", FERRY, "Tickets cost 4.50 crowns for adults and children under 6 travel free"),
    Attempt("punctuation", FERRY, '"Tickets cost 4.50 crowns for adults, and children under 6 travel free."'),
    Attempt("punctuation", REPORT, "Dr Ilse Korda has been chief executive since 4 March 2018"),
    Attempt("punctuation", REPORT, "…The company did not pay dividends in 2020 or 2021…"),
    Attempt("punctuation", GERMAN, "Die Boote wurden 1931 in Hallenau gebaut und zwar für höchstens 120 Fahrgäste."),
    Attempt("punctuation", CHINESE, "成人票价为4.50克朗,6岁以下儿童免费"),
    Attempt("punctuation", FERRY, "- No ferries run on 24 December."),
    Attempt("punctuation", FERRY, "1. No ferries run on 24 December."),
    Attempt("punctuation", FERRY, "**No ferries run on 24 December.**"),
    Attempt("hyphenation", HYPHENS, "The information desk is open daily."),
    Attempt("hyphenation", HYPHENS, "Passengers with bicycles board first; foot passengers follow."),
    Attempt("hyphenation", HYPHENS, "The harbour is a well-known landmark of the old town."),
    Attempt("hyphenation", HYPHENS, "The infor-\nmation desk is open daily."),
    Attempt("hyphenation", HYPHENS, "The infor- mation desk is open daily."),
    Attempt("hyphenation", FERRY, "Dogs are al-\nlowed on deck but not in the sa-\nloon."),
    Attempt("hyphenation", FERRY, "chil\u00addren under 6 travel free"),
    Attempt("hyphenation", GERMAN_HYPHENS, "Die Hafenverwaltung hat ihre Öffnungszeiten geändert."),
    Attempt("hyphenation", GERMAN_HYPHENS, "Der Schiffsverkehr ruht von 22 bis 5 Uhr."),
    Attempt("table", TABLE, "Verrin 21:40 4.50"),
    Attempt("table", TABLE, "Verrin, 21:40"),
    Attempt("table", TABLE, "| Dunmere | 22:10 | 6.00 |"),
    Attempt("table", TABLE, "Dunmere\t22:10\t6.00"),
    Attempt("table", TABLE, "| Verrin | 21:40 | 4.50 |\n| Dunmere | 22:10 | 6.00 |"),
    Attempt("table", TABS, "P-101 | 5 MW | 320 l/s"),
    Attempt("table", TABS, "P-102 7 MW 410 l/s"),
    Attempt("quotes and dashes", QUOTED, "\"The 'Maren' - our oldest ship - can't sail before May.\""),
    Attempt("quotes and dashes", QUOTED, "our oldest ship – can’t sail before May"),
    Attempt("quotes and dashes", QUOTED, "between 12-14 sailors"),
    Attempt("quotes and dashes", QUOTED, "between 12 – 14 sailors"),
    Attempt("ligatures", QUOTED, "Its official crew floats between 12–14 sailors."),
    Attempt("ligatures", "The official crew floats.", "The oﬃcial crew ﬂoats."),
    Attempt("ligatures", CODE.replace("hundred", "hundred"), "The pump draws ５ mW."),
    Attempt("misread", SCANNED, "The govemment announced modernisation of the harbour."),
    Attempt("misread", SCANNED, "The government announced modemisation of the harbour."),
    Attempt("misread", SCANNED, "Workers complained about the management, and the c0mmittee summoned them."),
    Attempt("misread", SCANNED, "Workers complained about the rnanagement, and the committee summoned them."),
    Attempt("misread", SCANNED, "Workers comp1ained about the management, and the committee summoned them."),
    Attempt(
        "misread", SCANNED.replace("government", "govemment"), "The government announced modernisation of the harbour."
    ),
    Attempt("footnotes", NOTED, "The Alps stretch for 1,200 km across eight countries."),
    Attempt("footnotes", NOTED, "Mont Blanc is the highest mountain at 4,809 m."),
    Attempt("footnotes", NOTED, "The Alps[1] stretch for 1,200 km across eight countries.[2]"),
    Attempt("punctuation", "The U.S. economy grew.", "The US economy grew."),
    Attempt("punctuation", "The USA signed it.", "The U.S.A. signed it."),
    Attempt("white space", "Revenue was $ 5 million.", "Revenue was $5 million."),
    Attempt("ligatures", "５０％ of users agree.", "50% of users agree."),
    Attempt("case", "Straße 5 ist gesperrt.", "STRASSE 5 IST GESPERRT."),
    Attempt("ligatures", "a naïve plan", "a nai\u0308ve plan"),
    Attempt("hyphenation", "The co-\noperation agreement", "The cooperation agreement"),
    Attempt("table", "Total | 1,234 | (5,678)", "Total 1,234 (5,678)"),
    Attempt("quotes and dashes", "It is open 9 – 17 h.", "It is open 9-17 h."),
    Attempt("white space", "Name: Ada\nAge: 36", "Name: Ada, Age: 36"),
]
