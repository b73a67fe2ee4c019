import { type Language, overWords, phraseList, wordSet } from './language.ts'

/** Everybody is a "du" in Swedish. */
export const swedish: Language = {
  code: 'sv',
  name: 'Svenska',
  writing: 'spaced',
  orders: {
    language: 'Svara alltid på svenska.',
    sayAi: 'Om någon frågar om du är en människa, säg att du är en AI.',
  },
  phrases: {
    sayAgain: 'Ursäkta, något gick fel. Kan du säga det en gång till?',
    didNotCatch: 'Ursäkta, jag uppfattade inte det. Kan du säga det en gång till?',
    cannotHear: 'Ursäkta, jag hör dig inte just nu. Stanna kvar på linjen.',
    stillThere: 'Är du kvar?',
    oneMoment: 'Ett ögonblick.',
    stillHere: 'Jag är strax klar, bara en liten stund till.',
    bye: 'Hej då, ha en bra dag.',
    goodbye: 'Jag beklagar, jag har tekniska problem och måste avsluta samtalet. Försök gärna igen senare.',
    transferring: 'Ett ögonblick, jag kopplar dig vidare.',
    takeCall: 'Vill du ta samtalet? Säg ja eller tryck 1. Om inte, säg nej eller tryck 2.',
    transferFailed: 'Jag fick tyvärr inte tag på någon där. Kan jag hjälpa dig på något annat sätt?',
    almostOver: 'Vår tid är snart slut: samtalet avslutas om några sekunder.',
    cannotSay: 'Tyvärr kan jag inte säga något om det.',
    disclosure: 'Du talar med en AI-assistent.',
    recordingNotice: 'Samtalet spelas in för att förbättra vår service. Säg till nu om du inte vill det.',
    recordingConsent: 'Får jag spela in samtalet? Säg ja eller nej, eller tryck 1 för ja och 2 för nej.',
    voicemail: 'Hej, det här är en AI-assistent. Vi ville prata med dig och försöker igen senare. Hej då.',
    abandoned:
      'Hej, det här är ett automatiskt samtal från {{workspace}}. Vi ville prata med dig, men ingen är ledig just nu. Ring {{from_number}} om du vill nå oss eller inte vill bli uppringd igen. Hej då.',
  },
  informal: { order: 'Svara alltid på svenska, i vardaglig ton.', phrases: {} },
  regions: {
    FI: {
      order: 'Svara alltid på finlandssvenska.',
      informalOrder: 'Svara alltid på finlandssvenska, i vardaglig ton.',
    },
  },
  openEndings: wordSet(`
    namn_är nummer_är vill_ha
    och eller att som för eftersom utan mellan ett mitt min vår öh eh ehm öhm till från genom varje deras därför medan innan dessa`),
  looseEndings: wordSet(
    `en men om när med på i av jag är har vill ska kan det den de mina så mer då hos vid över under`,
  ),
  holdOns: phraseList(
    'låt mig se, låt mig tänka, vänta, vänta lite, ett ögonblick, en sekund, få se, vi får se, hur ska jag säga',
  ),
  asksOpenly:
    /^(?:\S+ )?(?:vad|hur|nar|var|vart|vem|vilken|vilket|vilka|varfor)\b|\b(?:beratta|saga|beskriva|forklara)\b/u,
  dictation: {
    digits: wordSet('noll ett en två tre fyra fem sex sju åtta nio dubbel'),
    asksNumber: /nummer\b|\b(?:kod|koden|pin|postnumret|siffror|iban)\b|numret\b/u,
    asksPhone: /telefon|mobil/u,
    phoneDigits: 9,
    asksSpelling: /\b(?:stavar|stavas|bokstavera|skriver)\b/u,
  },
  backchannels: phraseList(`
    mm, mmm, mhm, mm-hm, hm, hmm, ah, aha, ja, jaha, jo, jajamän, japp, jepp, okej, ok, okay, bra, precis, exakt, just det, visst, absolut,
    jag förstår, förstår, fint, toppen, perfekt, självklart, det stämmer, stämmer, nämen, oj`),
  commonWords: wordSet(`
    jag är och att det som på för inte med en ett vill kan har hej tack ja nej vad hur var när vi ni du min er gärna boka tid till
    svenska svara alltid god morgon öppnar stänger också skulle behöver`),
  consent: {
    yes: phraseList(`
      ja, jo, japp, jepp, jajamän, visst, ja visst, javisst, absolut, okej, ok, okay, självklart, det går bra, går bra, gärna, ja gärna,
      det är okej, det är ok, det är bra, det är lugnt, inga problem, inget problem, det är inga problem, kör på, varsågod,
      jag godkänner, jag godkänner det, jag samtycker, det får du, det får ni, du får spela in, ni får spela in, jag har inget emot det,
      har inget emot det, inget emot det, det gör inget, gör inget, spela in, spela gärna in, naturligtvis, det kan du göra`),
    alone: phraseList('bra, stämmer, precis, ja tack, gör det'),
    rhetorical: phraseList('varför inte, ja varför inte'),
    beside: phraseList(
      'tack, tack så mycket, det, det går bra, för mig, för min del, samtalet, spela in, gör det, du, ni, då, då',
    ),
    lead: phraseList('öh, eh, ehm, öhm, jaha, aha, oj, nå, alltså, tja, hm'),
    no: phraseList('nej, nä, nej tack, inte, helst inte, aldrig, absolut inte, nix, ogärna'),
    refuses: overWords([
      /\bhelst inte\b|\babsolut inte\b|\binte (?:spela|spelas|in|okej|ok|godkänner|samtycker)\b|\bogärna\b|\baldrig i livet\b|\bnej\b|\bnä\b/,
      /\b(?:vill|önskar) (?:jag )?(?:inte|helst inte)\b|\bingen inspelning\b|\butan inspelning\b|\bgodkänner (?:jag )?inte\b/,
    ]),
    unclear: overWords([
      /^(?:va|va sa|va sa du|ursäkta|förlåt|vad|hur sa|hur sa du|hallå)$/,
      /\binte (?:riktigt )?(?:vad|uppfatta\w*|höra|hörde|förstod)\b|\b(?:uppfattade|hörde|hör|förstod|förstår) (?:jag )?(?:dig |er |det )?(?:inte|dåligt|knappt)\b|\bhör dåligt\b/,
      /\b(?:kan|skulle) du (?:kunna )?(?:säga|upprepa|ta) (?:det )?(?:igen|en gång till)?\b|\ben gång till\b|\bvad sa du\b/,
    ]),
    one: phraseList('ett, en etta, etta, ettan, siffran ett, 1'),
    two: phraseList('två, en tvåa, tvåa, tvåan, siffran två, 2'),
    abroad: { yes: phraseList('javisst, ja gärna, ja tack'), no: phraseList('nej, nej tack') },
  },
  answering: {
    tone: /efter (?:tonen|pipet|signalen|tonsignalen|pip)/,
    machine: [
      /(?:lamna|tala in|spela in|lamnar) (?:\w{1,30} ){0,4}meddelande|(?<!ingen )rostbrevlada\w{0,3}|(?<!ingen )(?:telefonsvarare|mobilsvar)\w{0,3}/,
      /(?:abonnent\w{0,3}|nummer|numret|person|personen) (?:\w{1,30} ){0,8}(?:inte nas|kan inte nas|inte i bruk|ej i bruk|avstangd|inte tillganglig)/,
      /kan inte (?:svara|ta emot ditt samtal|ta samtalet)|utanfor vara (?:oppettider|telefontider)/,
    ],
    full: [/(?:rostbrevladan|brevladan) ar (?:\w{1,30} )?full|inga fler meddelanden/],
    hints: [
      /(?:inte (?:pa plats|inne|hemma|tillganglig|anstraffbar|kontoret))|upptagen i/,
      /du har (?:kommit till|ringt till|natt)/,
      /(?:ringer|aterkommer) (?:\w{1,30} ){0,4}(?:upp|tillbaka|snart|dig)|sa snart (?:jag|vi|som) (?:kan)?/,
      /(?:kontoret|butiken|mottagningen|vaxeln) (?:\w{1,30} ){0,2}stangd?/,
      /vara (?:oppettider|telefontider) ar/,
    ],
    speaksOfOthers: /\b(?:han|hon) (?:ar|har|kommer|sitter)\b/,
    menu: [
      /tryck (?:\w{1,30} )?(?:\d|ett|tva|tre|fyra|noll|fyrkant|stjarna)|valj (?:\w{1,30} ){0,2}(?:\d|ett|tva)/,
      /huvudmeny|foljande (?:alternativ|val)/,
      /samtal\w{0,3} (?:\w{1,30} ){0,4}spelas in/,
      /(?:handlaggare|medarbetare|linjer) (?:\w{1,30} ){0,3}upptagna|plats i kon|du star i ko|du har plats/,
    ],
    screening: [
      /(?:sag|uppge|lamna) (?:\w{1,30} ){0,3}ditt namn/,
      /(?:anledningen|orsaken|arendet) (?:\w{1,30} ){0,2}(?:samtal|ringer)|varfor du ringer/,
      /vem (?:far jag|kan jag) (?:halsa|anmala)/,
    ],
    offers:
      /(?:kan|ska|far) jag (?:\w{1,30} ){0,3}(?:meddelande|halsa|framfora)|vill du (?:\w{1,30} ){0,2}lamna (?:\w{1,30} )?meddelande/,
    asks: /vem (?:ar det|talar jag med|ringer|fragar)|vem ar det som/,
    introduces: /\b(?:du talar med|jag heter|mitt namn ar|det ar) \w{1,30}/,
    company: [/(?:vad|hur) kan (?:jag|vi) (?:hjalpa|sta till)/, /du talar med \w{1,30}/],
  },
  doNotCall: [
    /\bring (?:\w{1,30} ){0,2}(?:inte|aldrig) (?:hit |mig )?(?:mer|igen|nagonsin)\b|\bsluta ringa\b|\bvill inte (?:bli uppringd|ha fler samtal|att ni ringer)\b/,
    /\bta bort (?:mig|mitt nummer)\b|\bstryk mig\b|\bnix registret\b|\bnixregistret\b/,
  ],
  saysAi: /\b(?:ai|artificiell intelligens|virtuell assistent|(?:chat|chatt|rost)bot|robot|automatiskt samtal)\b/,
  reading: {
    marks: {
      at: 'snabel-a',
      dot: 'punkt',
      slash: 'snedstreck',
      dash: 'bindestreck',
      underscore: 'understreck',
      plus: 'plus',
    },
    dollars: { other: 'dollar' },
    pounds: { other: 'pund' },
    money: '{whole} och {hundredths}',
    clock: { full: '', minutes: '' },
    inFull: {
      't.ex.': 'till exempel',
      'bl.a.': 'bland annat',
      'dvs.': 'det vill säga',
      'kl.': 'klockan',
      'ca.': 'cirka',
      'tel.': 'telefon',
      'nr.': 'nummer',
    },
  },
  abbreviations: [
    't.ex',
    'bl.a',
    'dvs',
    'kl',
    'ca',
    'osv',
    'm.m',
    'tel',
    'nr',
    's.k',
    'dr',
    'prof',
    'st',
    'jan',
    'feb',
    'aug',
    'okt',
    'dec',
    'f.d',
    'max',
    'min',
  ],
  dottedOrdinals: false,
}
