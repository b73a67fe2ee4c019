import { type Language, overWords, phraseList, wordSet } from './language.ts'

export const german: Language = {
  code: 'de',
  name: 'Deutsch',
  writing: 'spaced',
  orders: {
    language: 'Antworte immer auf Deutsch und sieze den Anrufer, wenn oben nichts anderes steht.',
    sayAi: 'Wirst du gefragt, ob du ein Mensch bist, dann sage, dass du eine künstliche Intelligenz bist.',
  },
  phrases: {
    sayAgain: 'Entschuldigung, da ist etwas schiefgegangen. Könnten Sie das bitte noch einmal sagen?',
    didNotCatch: 'Entschuldigung, das habe ich nicht verstanden. Könnten Sie das bitte noch einmal sagen?',
    cannotHear: 'Entschuldigung, ich höre Sie gerade nicht. Bitte bleiben Sie kurz dran.',
    stillThere: 'Sind Sie noch da?',
    oneMoment: 'Einen Moment, bitte.',
    stillHere: 'Ich bin gleich so weit, einen kleinen Moment noch.',
    bye: 'Auf Wiederhören.',
    goodbye:
      'Es tut mir leid, ich habe ein technisches Problem und muss das Gespräch beenden. Bitte versuchen Sie es später noch einmal.',
    transferring: 'Einen Moment, ich verbinde Sie.',
    takeCall:
      'Möchten Sie das Gespräch annehmen? Sagen Sie Ja oder drücken Sie die 1. Zum Ablehnen sagen Sie Nein oder drücken Sie die 2.',
    transferFailed: 'Da konnte ich leider niemanden erreichen. Kann ich Ihnen anders weiterhelfen?',
    almostOver: 'Unsere Zeit ist gleich um: Das Gespräch endet in wenigen Sekunden.',
    cannotSay: 'Dazu kann ich leider nichts sagen.',
    disclosure: 'Sie sprechen mit einem KI-Assistenten.',
    recordingNotice:
      'Dieses Gespräch wird zur Qualitätssicherung aufgezeichnet. Wenn Sie das nicht möchten, sagen Sie es mir bitte jetzt.',
    recordingConsent:
      'Darf ich das Gespräch aufzeichnen? Bitte sagen Sie Ja oder Nein, oder drücken Sie die Eins für Ja, die Zwei für Nein.',
    voicemail:
      'Guten Tag, hier ist ein KI-Assistent. Wir wollten Sie sprechen und versuchen es später noch einmal. Auf Wiederhören.',
    abandoned:
      'Guten Tag, dies ist ein automatischer Anruf von {{workspace}}. Wir wollten Sie sprechen, leider ist gerade niemand frei. Sie erreichen uns unter {{from_number}}; dort können Sie auch sagen, dass Sie keine Anrufe mehr wünschen. Auf Wiederhören.',
  },
  informal: {
    order: 'Antworte immer auf Deutsch und duze den Anrufer.',
    phrases: {
      sayAgain: 'Entschuldige, da ist etwas schiefgegangen. Kannst du das bitte noch einmal sagen?',
      didNotCatch: 'Entschuldige, das habe ich nicht verstanden. Kannst du das bitte noch einmal sagen?',
      cannotHear: 'Entschuldige, ich höre dich gerade nicht. Bleib bitte kurz dran.',
      stillThere: 'Bist du noch da?',
      bye: 'Mach’s gut, tschüss.',
      goodbye:
        'Es tut mir leid, ich habe ein technisches Problem und muss das Gespräch beenden. Versuch es bitte später noch einmal.',
      transferring: 'Einen Moment, ich verbinde dich.',
      takeCall: 'Möchtest du das Gespräch annehmen? Sag Ja oder drück die 1. Zum Ablehnen sag Nein oder drück die 2.',
      transferFailed: 'Da konnte ich leider niemanden erreichen. Kann ich dir anders weiterhelfen?',
      disclosure: 'Du sprichst mit einem KI-Assistenten.',
    },
  },
  regions: {
    AT: {
      order:
        'Antworte immer auf Deutsch, wie man es in Österreich spricht, und sieze den Anrufer, wenn oben nichts anderes steht.',
      informalOrder: 'Antworte immer auf Deutsch, wie man es in Österreich spricht, und duze den Anrufer.',
    },
    CH: {
      order:
        'Antworte immer auf Schweizer Hochdeutsch, mit ss statt ß, und sieze den Anrufer, wenn oben nichts anderes steht.',
      informalOrder: 'Antworte immer auf Schweizer Hochdeutsch, mit ss statt ß, und duze den Anrufer.',
      phrases: { bye: 'Auf Wiederhören und einen schönen Tag.' },
    },
  },
  // Prepositions that are also the end of a separable verb ("Ich ziehe um", "Machen Sie auf") and "was" may end a sentence.
  openEndings: wordSet(`
    name_ist nummer_ist adresse_ist
    der dem des eines und denn weil dass wenn ob obwohl damit sondern sowie für vom zum zur beim im am ins ohne gegen zwischen über
    bis äh ähm öh öhm kein keinen dieser diese jeder welche nach bei ums ans aufs fürs mein meinen meinem meiner deinen
    einem einer ihrem unser unsere in`),
  looseEndings: wordSet(`
    die den das ein eine einen meine dein deine sein seine ihr ihre ihren oder aber von durch unter seit wegen als wie ich wir er man
    bin ist sind war kann könnte möchte würde werde habe hätte sehr so also soll muss darf keine dieses nachdem`),
  holdOns: phraseList(
    'moment, einen moment, moment mal, warte, warten sie, mal sehen, lassen sie mich überlegen, ich schaue mal, sekunde, wie soll ich sagen, nein warten sie',
  ),
  asksOpenly:
    /^(?:\S+ )?(?:was|wie|wann|wo|wohin|woher|wer|wen|wem|welche[mnrs]?|warum|weshalb|wieso|wobei|womit|worum)\b|\b(?:sagen|nennen|beschreiben|erzahlen|erklaren)\b/u,
  dictation: {
    digits: wordSet('null eins ein zwei zwo drei vier fünf sechs sieben acht neun doppel'),
    asksNumber: /nummer\b|\b(?:code|pin|plz|postleitzahl|iban|ziffern|geheimzahl)\b/u,
    asksPhone: /telefon|handy|mobil|ruckruf/u,
    phoneDigits: 10,
    asksSpelling: /buchstabier|\bschreibt\b|\bgeschrieben\b/u,
  },
  backchannels: phraseList(`
    mm, mmm, mhm, mm-hm, hm, hmm, hmmm, hmhm, mh, ah, aha, ach, ach so, achso, oh, ja, jaja, jawohl, jo, joa, jep, jup, jap, okay, ok,
    genau, gut, richtig, klar, stimmt, sicher, verstehe, natürlich, super, prima, schön, toll, alles klar, alles gut, ja eben, na klar,
    na gut, in ordnung, sehr gut, das stimmt, ich verstehe, perfekt, wunderbar, interessant, echt, wirklich, freilich, eh klar, gell`),
  commonWords: wordSet(`
    der die das und ist sind ich sie wir nicht ein eine einen zu mit für auf den dem von haben habe hat kann können wie was wann
    wo wer bitte danke ja nein hallo guten tag möchte uhr auch noch wieviel viel es mir ihnen im am gibt deutsch rufe an meine
    meiner wegen brauche gern moin servus grüß`),
  consent: {
    yes: phraseList(`
      ja, jawohl, jo, jep, jup, jap, jaja, einverstanden, in ordnung, okay, ok, klar, na klar, alles klar, natürlich, selbstverständlich,
      meinetwegen, von mir aus, geht klar, geht in ordnung, das geht in ordnung, nur zu, können sie machen, können sie gern machen,
      können sie gerne machen, dürfen sie, das dürfen sie, genau, stimmt, richtig, freilich, logo, logisch, aber sicher, aber ja,
      aber gern, aber gerne, aber natürlich, sehr gern, sehr gerne, ich bin einverstanden, bin einverstanden, ich stimme zu, stimme zu,
      das ist in ordnung, ist in ordnung, das ist okay, ist okay, das ist ok, das passt, passt für mich, passt schon, machen sie ruhig,
      machen sie nur, machen sie das, kein problem, kein thema, gar kein problem, das ist kein problem, überhaupt kein problem,
      keine einwände, ich habe keine einwände, nichts dagegen, ich habe nichts dagegen, hab nichts dagegen, habe nichts dagegen,
      ich hab nichts dagegen, da habe ich nichts dagegen, macht nichts, macht mir nichts, macht mir nichts aus, das macht mir nichts aus,
      stört mich nicht, das stört mich nicht, spricht nichts dagegen, da spricht nichts dagegen, sie dürfen aufzeichnen,
      sie dürfen aufnehmen, sie können aufzeichnen, sie können aufnehmen, zeichnen sie auf, nehmen sie auf, warum auch nicht, ich willige ein`),
    alone: phraseList(
      'gern, gerne, sicher, ja sicher, passt, bitte, ja bitte, ja gern, ja gerne, bitte gern, bitte gerne, bitte sehr, gut, gut gern, ja gut, machen sie',
    ),
    rhetorical: phraseList('warum nicht, ja warum nicht, warum auch nicht, wieso nicht, na warum nicht'),
    beside: phraseList(`
      bitte, danke, vielen dank, gern, gerne, damit, damit bin ich einverstanden, dürfen sie, können sie machen, das können sie machen,
      machen sie, machen sie das, tun sie das, das ist, das geht, das, doch, auf jeden fall, durchaus, schon, ist gut, sehr wohl,
      sie dürfen, für mich, mit der aufzeichnung, das gespräch aufzeichnen, aufzeichnen, gut`),
    lead: phraseList('äh, ähm, öh, öhm, ach, also, na, naja, hm, hmm, oh, ach so, tja'),
    no: phraseList(
      'nein, nee, nö, ne, na nein, bloß nicht, niemals, ungern, lieber nicht, auf keinen fall, auf gar keinen fall, keinesfalls, nicht',
    ),
    refuses: overWords([
      /\blieber nicht\b|\bauf (?:gar )?keinen fall\b|\bbloß nicht\b|\bbitte nicht\b|\bungern\b|\bniemals\b|\bkeinesfalls\b|\blieber ohne\b/,
      /\bnicht (?:einverstanden|aufzeichnen|aufnehmen|aufgezeichnet|aufgenommen|mitschneiden|in ordnung|okay|recht)\b/,
      /\b(?:möchte|will|wünsche|mag|wünsch) (?:ich )?(?:das |es )?(?:aber |lieber |eigentlich |auch )?(?:nicht|keine)\b|\b(?:möchte|will) ich (?:das )?nicht\b/,
      /\bkeine (?:aufzeichnung|aufnahme|zustimmung)\b|\bohne aufzeichnung\b|\bich (?:lehne|widerspreche|verweigere)\b|\bstimme (?:dem |ich )?(?:nicht|dem nicht) zu\b|\bdas geht nicht\b/,
      // The word stands alone among others: the particle of a question would be asked.
      /\bnein\b/,
    ]),
    unclear: overWords([
      /^(?:wie|was|bitte was|wie bitte|bitte wie|hä|entschuldigung|entschuldigung bitte|wie war das|was war das|pardon|wie meinen)$/,
      /\bwie bitte\b|\bnicht (?:richtig |ganz |so |gut )?(?:verstanden|gehört|mitbekommen)\b|\b(?:verstehe|höre|hör|versteh) (?:ich )?(?:sie |dich |das )?(?:\w+ )?(?:nicht|schlecht|kaum)\b/,
      /\bnoch ?(?:ein)?mal (?:bitte|sagen|wiederholen)\b|\bwas haben sie gesagt\b|\bkönnen sie das (?:bitte )?wiederholen\b/,
    ]),
    one: phraseList('eins, die eins, eine eins, taste eins, 1, die 1'),
    two: phraseList('zwei, zwo, die zwei, die zwo, eine zwei, taste zwei, 2, die 2'),
    abroad: { yes: phraseList('jawohl, ja bitte, ja gerne, einverstanden'), no: phraseList('nein, nein danke') },
  },
  answering: {
    tone: /(?:nach|auf) (?:dem|den) (?:\w{1,30} )?(?:signal|ton|piep)\w{0,30}|signalton|piepton/,
    machine: [
      /nachricht (?:\w{1,30} ){0,2}(?:drucken|wahlen|tippen) sie|nachricht (?:\w{1,30} ){0,3}hinterlass\w{1,30}|hinterlass\w{0,30} (?:\w{1,30} ){0,4}(?:nachricht|namen?|nummer)|nachricht nach/,
      /(?<!kein |keine |keinen )(?:mailbox|anrufbeantworter|telefonbeantworter|sprachbox|mobilbox|combox)/,
      /(?:teilnehmer|rufnummer|person|anschluss) (?:\w{1,30} ){0,6}nicht (?:erreichbar|vergeben)|(?:derzeit|zurzeit|zur zeit|momentan) (?:leider )?nicht erreichbar|kein anschluss unter/,
      /(?:sprich|sprechen sie|sprecht) (?:\w{1,30} ){0,3}(?:aufs|auf) (?:das )?band|ausserhalb (?:unserer|der) (?:\w{1,30} )?(?:offnungszeiten|geschaftszeiten|sprechzeiten|burozeiten)/,
      /ausserhalb (?:unserer|der) \w{0,30}zeiten/,
    ],
    full: [
      /(?:mailbox|speicher|postfach|anrufbeantworter) (?:\w{1,30} ){0,2}voll|keine (?:weiteren |neuen )?nachrichten (?:mehr )?(?:aufnehmen|annehmen|hinterlassen)/,
    ],
    hints: [
      /nicht (?:da|zu hause|im haus|im buro|am platz|verfugbar|zu sprechen|rangehen|erreichbar|personlich)|ausser haus|nicht ans telefon/,
      /(?:anschluss|telefon) von|sie haben (?:\w{1,30} ){0,4}erreicht|ist (?:der|die) (?:\w{1,30} ){0,2}von/,
      /(?:rufe|melde|rufen|melden) (?:\w{1,30} ){0,4}(?:zuruck|mich|uns)|so bald wie moglich|sobald wie moglich|schnellstmoglich/,
      /(?:buro|praxis|geschaft|kanzlei|laden|filiale) (?:\w{1,30} ){0,3}(?:geschlossen|nicht besetzt)/,
      /unsere (?:\w{0,30}zeiten) sind/,
    ],
    speaksOfOthers:
      /\b(?:er|(?:herr|frau|kollege|kollegin|chef|chefin)(?: \w{1,30})?) (?:ist|kommt|hat)\b|\bist (?:er|sie) (?:gerade|leider|heute|nicht)\b|\bsie ist\b/,
    menu: [
      /drucken sie (?:\w{1,30} ){0,3}(?:\d|eins|zwei|drei|vier|null|raute|stern|taste)|wahlen sie (?:\w{1,30} ){0,3}(?:\d|eins|zwei|drei|aus)/,
      /hauptmenu|folgenden (?:optionen|moglichkeiten)/,
      /(?:gesprach|anruf|telefonat)\w{0,30} (?:\w{1,30} ){0,6}aufgezeichnet/,
      /(?:mitarbeiter|leitungen|platze) (?:\w{1,30} ){0,4}(?:besetzt|im gesprach)|nachste freie mitarbeiter|bleiben sie (?:bitte )?in der leitung|bitte haben sie (?:einen moment |noch )?geduld/,
    ],
    screening: [
      /(?:sag|nenn|nenne|nennen|sagen|sprechen|sprich) (?:\w{1,30} ){0,4}(?:ihren|deinen|den) (?:\w{1,30} )?namen|ihren namen|deinen namen und/,
      /grund (?:\w{1,30} )?(?:ihres|deines|fur (?:ihren|deinen)) anruf\w{0,30}/,
      /anruf(?:filter|assistent|blocker)|wer (?:du bist|sie sind) und (?:warum|weshalb|wieso)|kein (?:\w{1,30} )?(?:roboter|automat|computer) (?:sind|bist)/,
      /wen darf ich (?:an)?melden|anruf wird (?:\w{1,30} )?gepruft|bevor ich (?:sie|dich) (?:durchstelle|verbinde)/,
    ],
    offers:
      /(?<!wenn (?:\w{1,30} ){0,4}|falls (?:\w{1,30} ){0,4})(?:(?:kann|soll|darf) ich (?:\w{1,30} ){0,4}(?:ausrichten|nachricht)|(?:mochten|wollen) sie (?:ihm|ihr|eine) (?:\w{1,30} ){0,2}nachricht)/,
    asks: /wer (?:ruft (?:da )?an|spricht|ist da|sind sie)|mit wem spreche ich|worum geht es/,
    introduces: /\b(?:hier ist|hier spricht|mein name ist)\b/,
    company: [
      /(?:wie|womit) (?:kann|darf) ich (?:ihnen )?(?:weiter ?)?(?:helfen|behilflich)|was (?:kann|darf) ich fur sie tun/,
      /(?:mein name ist|sie sprechen mit) \w{1,30}/,
    ],
  },
  doNotCall: [
    /\bruf(?:en sie|t)? (?:\w{1,30} ){0,3}(?:nicht|nie) (?:mehr|wieder|noch ?mal) an\b|\brufen sie (?:\w{1,30} ){0,3}nie wieder an\b|\bnicht mehr (?:angerufen|anrufen)\b/,
    /\b(?:nehmen|streichen|loschen) sie (?:\w{1,30} ){0,5}(?:liste|nummer|verteiler|datenbank)\b|\bkeine (?:\w{1,30} ){0,2}anrufe mehr\b|\bwerbewiderspruch\b|\bhoren sie auf (?:\w{1,30} ){0,3}anzurufen\b/,
  ],
  saysAi:
    /\b(?:ki|ai|kunstliche\w{0,2} intelligenz|virtuelle\w{0,2} (?:assistent|mitarbeiter)\w{0,3}|roboter|(?:chat|voice|sprach) ?bot|sprachcomputer|automatischer anruf)\b/,
  reading: {
    marks: {
      at: 'at',
      dot: 'Punkt',
      slash: 'Schrägstrich',
      dash: 'Bindestrich',
      underscore: 'Unterstrich',
      plus: 'plus',
    },
    dollars: { other: 'Dollar' },
    pounds: { other: 'Pfund' },
    money: '{whole} {hundredths}',
    clock: { full: '{h} Uhr', minutes: '{h} Uhr {m}' },
    inFull: {
      'z. B.': 'zum Beispiel',
      'z.B.': 'zum Beispiel',
      'd. h.': 'das heißt',
      'd.h.': 'das heißt',
      'u. a.': 'unter anderem',
      'u.a.': 'unter anderem',
      'bzw.': 'beziehungsweise',
      'ca.': 'circa',
      'Nr.': 'Nummer',
      'Dr.': 'Doktor',
      'Prof.': 'Professor',
      'Hr.': 'Herr',
      'evtl.': 'eventuell',
      'inkl.': 'inklusive',
      'exkl.': 'exklusive',
      'zzgl.': 'zuzüglich',
      'ggf.': 'gegebenenfalls',
      'bspw.': 'beispielsweise',
      'Mio.': 'Millionen',
      'Mrd.': 'Milliarden',
      'Tel.': 'Telefon',
      'Std.': 'Stunden',
      'Min.': 'Minuten',
      'Str.': 'Straße',
    },
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
    'exkl',
    'usw',
    'Tel',
    'Mio',
    'Mrd',
    'ggf',
    'bspw',
    'med',
    'jur',
    'Std',
    'Min',
    'Abs',
    'Art',
    'max',
    'min',
    'vgl',
    'zzgl',
    'Fam',
    'Mag',
    'Ing',
    'Hbf',
    'geb',
    'Jan',
    'Feb',
    'Aug',
    'Sept',
    'Okt',
    'Nov',
    'Dez',
    'Dipl',
    'phil',
  ],
  dottedOrdinals: true,
}
