import { type Language, wordSet } from './language.ts'

export const german: Language = {
  code: 'de',
  name: 'Deutsch',
  instruction: 'Antworte immer auf Deutsch.',
  phrases: {
    sayAgain: 'Entschuldigung, da ist etwas schiefgegangen. Können Sie das bitte wiederholen?',
    didNotCatch: 'Entschuldigung, das habe ich nicht verstanden. Können Sie es bitte noch einmal sagen?',
    cannotHear: 'Entschuldigung, ich kann Sie gerade nicht hören. Einen Moment, bitte.',
    stillThere: 'Sind Sie noch da?',
    oneMoment: 'Einen Moment, bitte.',
    stillHere: 'Ich bin noch dran, einen Augenblick noch.',
    bye: 'Auf Wiederhören.',
    goodbye:
      'Es tut mir leid, ich habe ein technisches Problem und muss das Gespräch beenden. Bitte versuchen Sie es später noch einmal.',
    transferring: 'Einen Moment, ich verbinde Sie.',
    takeCall:
      'Möchten Sie das Gespräch annehmen? Sagen Sie Ja oder drücken Sie die 1. Zum Ablehnen sagen Sie Nein oder drücken Sie die 2.',
    transferFailed: 'Es tut mir leid, dort war niemand zu erreichen. Wie kann ich Ihnen sonst helfen?',
    takenOver: 'Ein Mitarbeiter übernimmt jetzt das Gespräch.',
    givenBack: 'Ich bin wieder für Sie da. Wie kann ich Ihnen helfen?',
  },
  // Prepositions that are also the end of a separable verb ("Ich ziehe um", "Machen Sie auf") and "was" may end a sentence.
  openEndings: wordSet(`
    der die dem den des ein eine einen einem einer eines mein meine meinen meinem meiner dein deine sein seine ihr ihre ihren
    ihrem unser unsere und oder aber denn weil dass wenn ob obwohl damit sondern sowie für von vom zum zur beim im am ins
    ohne gegen zwischen über unter durch seit wegen bis als wie ich wir er man bin ist sind war kann könnte möchte würde
    werde habe hätte sehr so äh ähm öh öhm also`),
  backchannels: wordSet(`
    mm mmm mhm mm-hm hm hmm hmmm ah aha ach achso oh ja jaja jawohl jo joa okay ok genau gut richtig klar stimmt sicher
    verstehe natürlich super prima schön toll alles so eben äh ähm`),
  commonWords: wordSet(`
    der die das und ist sind ich sie wir nicht ein eine einen zu mit für auf den dem von haben habe hat kann können wie was wann
    wo wer bitte danke ja nein hallo guten tag möchte uhr auch noch wieviel viel es mir ihnen im am gibt deutsch`),
  consent: {
    yes: /\b(?:ja|jawohl|gerne?|einverstanden|in ordnung|okay|ok|klar|sicher|naturlich|selbstverstandlich|meinetwegen|machen sie|passt|stimme zu)\b/,
    no: /\b(?:nein|nee|no|nicht|nichts|kein(?:e[nrms]?)?|auf keinen fall|lieber nicht|ungern|niemals)\b/,
    yesDespiteNo:
      /\bkein problem\b|\bkeine einwande\b|\bnichts dagegen\b|\bwarum nicht\b|\bmacht (?:mir )?nichts\b|\bstort (?:mich )?nicht\b/,
  },
  answering: {
    machine: [
      /nachricht (?:\w{1,30} ){0,3}hinterlass\w{1,30}|hinterlass\w{1,30} (?:\w{1,30} ){0,4}nachricht|nachricht nach/,
      /(?:nach|auf) (?:dem|den) (?:signal|ton|piep)\w{0,30}|signalton|piepton/,
      /mailbox|anrufbeantworter|sprachbox/,
      /(?:teilnehmer|rufnummer|person) (?:\w{1,30} ){0,6}nicht (?:erreichbar|vergeben)|(?:derzeit|zurzeit|zur zeit|momentan) (?:leider )?nicht erreichbar/,
    ],
    full: [
      /(?:mailbox|speicher|postfach|anrufbeantworter) (?:\w{1,30} ){0,2}voll|keine (?:weiteren |neuen )?nachrichten (?:mehr )?(?:aufnehmen|annehmen|hinterlassen)/,
    ],
    hints: [
      /nicht (?:da|zu hause|im haus|im buro|am platz|verfugbar|zu sprechen)|ausser haus|nicht ans telefon/,
      /(?:anschluss|telefon) von|sie haben (?:\w{1,30} ){0,4}erreicht|ist (?:der|die) (?:\w{1,30} ){0,2}von/,
      /(?:rufe|melde|rufen|melden) (?:\w{1,30} ){0,4}(?:zuruck|mich|uns)|so bald wie moglich|sobald wie moglich|schnellstmoglich/,
    ],
    menu: [
      /drucken sie (?:\w{1,30} ){0,3}(?:\d|eins|zwei|drei|vier|null|raute|stern|taste)|wahlen sie (?:\w{1,30} ){0,3}(?:\d|eins|zwei|drei|aus)/,
      /hauptmenu|folgenden (?:optionen|moglichkeiten)/,
      /(?:gesprach|anruf|telefonat)\w{0,30} (?:\w{1,30} ){0,6}aufgezeichnet/,
      /(?:mitarbeiter|leitungen|platze) (?:\w{1,30} ){0,4}(?:besetzt|im gesprach)|nachste freie mitarbeiter|bleiben sie (?:bitte )?(?:am apparat|in der leitung)|bitte (?:haben sie )?(?:einen moment )?geduld/,
    ],
    screening: [/ihren namen|grund (?:ihres|fur ihren) anruf\w{0,30}/],
    offers: /(?:mochten|wollen|kann|soll|konnen) (?:\w{1,30} ){0,5}(?:nachricht|ausrichten)/,
    asks: /wer (?:ruft (?:da )?an|spricht|ist da|sind sie)|mit wem spreche ich/,
    introduces: /\b(?:hier ist|hier spricht|mein name ist)\b/,
    company: [
      /(?:wie|womit) (?:kann|darf) ich (?:ihnen )?(?:weiter ?)?(?:helfen|behilflich)|was (?:kann|darf) ich fur sie tun/,
      /(?:mein name ist|sie sprechen mit) \w{1,30}/,
    ],
  },
  abbreviations: [
    'Hr',
    'Fr',
    'Dr',
    'Prof',
    'Nr',
    'Str',
    'St',
    'bzw',
    'ca',
    'z. B',
    'z.B',
    'd. h',
    'd.h',
    'u. a',
    'evtl',
    'inkl',
    'usw',
    'Tel',
  ],
  keys: ['null', 'eins', 'zwei', 'drei', 'vier', 'fünf', 'sechs', 'sieben', 'acht', 'neun'],
}
