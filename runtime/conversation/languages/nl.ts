import { type Language, overWords, phraseList, wordSet } from './language.ts'

export const dutch: Language = {
  code: 'nl',
  name: 'Nederlands',
  writing: 'spaced',
  orders: {
    language: 'Antwoord altijd in het Nederlands en zeg u, tenzij hierboven iets anders staat.',
    sayAi: 'Als iemand vraagt of je een mens bent, zeg dan dat je een AI bent.',
  },
  phrases: {
    sayAgain: 'Sorry, er ging iets mis. Kunt u dat nog een keer zeggen?',
    didNotCatch: 'Sorry, dat heb ik niet goed verstaan. Kunt u het herhalen?',
    cannotHear: 'Sorry, ik hoor u even niet. Blijft u alstublieft aan de lijn.',
    stillThere: 'Bent u er nog?',
    oneMoment: 'Een ogenblikje, alstublieft.',
    stillHere: 'Ik ben er nog mee bezig, nog heel even.',
    bye: 'Dag, nog een prettige dag.',
    goodbye:
      'Het spijt me, ik heb een technisch probleem en moet het gesprek beëindigen. Probeert u het later nog eens.',
    transferring: 'Een ogenblik, ik verbind u door.',
    takeCall: 'Wilt u het gesprek aannemen? Zeg ja of toets 1. Zo niet, zeg nee of toets 2.',
    transferFailed: 'Het spijt me, ik krijg daar niemand te pakken. Kan ik u op een andere manier helpen?',
    almostOver: 'Onze tijd is bijna om: het gesprek eindigt over enkele seconden.',
    cannotSay: 'Sorry, daar kan ik niets over zeggen.',
    disclosure: 'U spreekt met een AI-assistent.',
    recordingNotice:
      'Dit gesprek wordt opgenomen om onze dienstverlening te verbeteren. Wilt u dat niet, zeg het dan nu.',
    recordingConsent: 'Mag ik dit gesprek opnemen? Zeg ja of nee, of toets 1 voor ja en 2 voor nee.',
    voicemail:
      'Goedendag, u spreekt met een AI-assistent. We wilden u spreken en proberen het later nog eens. Tot ziens.',
    abandoned:
      'Goedendag, dit is een automatische oproep van {{workspace}}. We wilden u spreken, maar er is nu niemand vrij. Om ons te bereiken of niet meer gebeld te worden, belt u {{from_number}}. Tot ziens.',
  },
  informal: {
    order: 'Antwoord altijd in het Nederlands en zeg je.',
    phrases: {
      sayAgain: 'Sorry, er ging iets mis. Kun je dat nog een keer zeggen?',
      didNotCatch: 'Sorry, dat heb ik niet goed verstaan. Kun je het herhalen?',
      cannotHear: 'Sorry, ik hoor je even niet. Blijf alsjeblieft aan de lijn.',
      stillThere: 'Ben je er nog?',
      oneMoment: 'Een ogenblikje, alsjeblieft.',
      goodbye:
        'Het spijt me, ik heb een technisch probleem en moet het gesprek beëindigen. Probeer het later nog eens.',
      transferring: 'Een ogenblik, ik verbind je door.',
      takeCall: 'Wil je het gesprek aannemen? Zeg ja of toets 1. Zo niet, zeg nee of toets 2.',
      transferFailed: 'Het spijt me, ik krijg daar niemand te pakken. Kan ik je op een andere manier helpen?',
      disclosure: 'Je spreekt met een AI-assistent.',
    },
  },
  regions: {
    BE: {
      order: 'Antwoord altijd in het Nederlands zoals in Vlaanderen en zeg u, tenzij hierboven iets anders staat.',
      informalOrder: 'Antwoord altijd in het Nederlands zoals in Vlaanderen en zeg je.',
    },
  },
  openEndings: wordSet(`
    naam_is nummer_is adres_is wil_graag
    de het en omdat want als zonder tussen onze eh uh uhm ehm naar tijdens sinds hun elke dankzij tot volgens terwijl`),
  looseEndings: wordSet(
    `een of dat met voor van mijn uw aan bij in op ik is ben heb wil zou kan maar dus om geen die deze wat`,
  ),
  holdOns: phraseList(
    'even kijken, even denken, wacht, wacht even, een moment, momentje, een ogenblik, laat me denken, hoe zal ik het zeggen',
  ),
  asksOpenly:
    /^(?:\S+ )?(?:wat|hoe|hoeveel|wanneer|waar|waarheen|waarmee|waarom|wie|welk|welke)\b|\b(?:vertellen|zeggen|beschrijven|uitleggen)\b/u,
  dictation: {
    digits: wordSet('nul een één twee drie vier vijf zes zeven acht negen dubbel'),
    asksNumber: /nummer\b|\b(?:code|postcode|pincode|cijfers|iban)\b/u,
    asksPhone: /telefoon|mobiel/u,
    phoneDigits: 10,
    asksSpelling: /\bspel|\bschrijf/u,
  },
  backchannels: phraseList(`
    mm, mmm, mhm, mm-hm, hm, hmm, ah, aha, ach, oh, ja, jaja, jawel, jazeker, hoor, ja hoor, oké, ok, okay, oke, goed, prima, precies, klopt,
    dat klopt, juist, inderdaad, snap ik, ik snap het, ik begrijp het, begrijp ik, zeker, natuurlijk, uiteraard, heel goed, mooi, fijn, top`),
  commonWords: wordSet(`
    het een ik ben je u van naar voor met niet dat wat hoe waar wanneer kan kunt wil graag hallo dag goedemorgen goedemiddag bedankt
    ja nee en zijn heeft heb mijn uw bij ook nog open afspraak maken op zoek winkel altijd nederlands`),
  consent: {
    yes: phraseList(`
      ja, jawel, jazeker, ja hoor, jaja, graag, prima, akkoord, is goed, dat is goed, oké, oke, ok, okay, natuurlijk, doe maar, mag,
      dat mag, dat mag hoor, mag hoor, zeker, jawel hoor, geen probleem, geen enkel probleem, geen bezwaar, ik heb geen bezwaar,
      heb geen bezwaar, daar heb ik geen bezwaar tegen, maakt niet uit, dat maakt niet uit, vind ik goed, vind ik prima, dat vind ik goed,
      ga uw gang, ga je gang, ik ga akkoord, ik ben akkoord, ik stem toe, ik geef toestemming, u mag opnemen, u mag het opnemen,
      je mag het opnemen, neem maar op, dat is prima, dat is oké, in orde, dat is in orde, uiteraard, vanzelfsprekend`),
    alone: phraseList('goed, klopt, ja graag, ja klopt, ja goed, best, mij best, vooruit, vooruit maar'),
    rhetorical: phraseList('waarom niet, ja waarom niet'),
    beside: phraseList(`
      alstublieft, alsjeblieft, dank u, dank je, bedankt, hoor, meneer, mevrouw, dat, is, wat mij betreft, voor mij, van mij, het gesprek,
      opnemen, u mag, dat mag, dat kan, mee, daarmee`),
    lead: phraseList('eh, uh, uhm, ehm, nou, oh, ah, hm, tja, ach'),
    no: phraseList('nee, neen, niet, liever niet, nooit, nee dank u, absoluut niet, zeker niet, geen'),
    refuses: overWords([
      /\bliever niet\b|\b(?:absoluut|zeker|echt|beslist) niet\b|\bniet (?:opnemen|akkoord|goed|oké|oke|doen|opgenomen)\b|\bin geen geval\b/,
      /\b(?:wil|wens|hoef) (?:ik )?(?:dat |het |dit )?(?:liever )?niet\b|\bgeen (?:opname|toestemming)\b|\bzonder opname\b|\bik weiger\b|\bnee\b/,
    ]),
    unclear: overWords([
      /^(?:wat|sorry|pardon|hè|wat zegt u|wat zeg je|wablief|excuseer|hoe bedoelt u|wat bedoelt u)$/,
      /\bniet (?:goed |helemaal |zo goed )?(?:verstaan|gehoord|begrepen)\b|\b(?:versta|hoor|begrijp) (?:ik )?(?:u |je |het )?(?:\w+ )?niet\b|\b(?:hoor|versta) u slecht\b/,
      /\b(?:kunt|kan|kun) (?:u|je) (?:dat |het )?(?:nog \w+ )?herhalen\b|\bnog een keer\b|\bwat zei (?:u|je)\b/,
    ]),
    one: phraseList('een, één, eén, de één, toets één, toets een, nummer een, 1'),
    two: phraseList('twee, de twee, toets twee, nummer twee, 2'),
    abroad: { yes: phraseList('ja hoor, ja graag, jazeker'), no: phraseList('nee, neen, nee dank u, liever niet') },
  },
  answering: {
    tone: /na (?:de |het )?(?:\w{1,30} )?(?:piep|toon|pieptoon|signaal|biep)/,
    machine: [
      /spreek (?:\w{1,30} ){0,3}(?:bericht|boodschap)|(?:laat|kunt) (?:\w{1,30} ){0,4}(?:bericht|boodschap) (?:achter|inspreken|achterlaten)|(?:bericht|boodschap) (?:achter|in te spreken|achterlaten)/,
      /(?<!geen )voice ?mail|(?<!geen )antwoordapparaat|(?:abonnee|nummer|persoon) (?:\w{1,30} ){0,8}niet (?:bereikbaar|in gebruik|beschikbaar)/,
      /buiten (?:onze |de )?(?:openingstijden|kantooruren|kantoortijden)|momenteel niet bereikbaar/,
    ],
    full: [/(?:voicemail|mailbox|berichtenbox) is (?:\w{1,30} )?vol|geen (?:nieuwe )?berichten meer/],
    hints: [
      /niet (?:aanwezig|thuis|bereikbaar|beschikbaar|op kantoor)|(?:kan|kunnen) (?:\w{1,30} ){0,4}niet opnemen|de telefoon (?:\w{1,30} )?niet (?:opnemen|beantwoorden)|niet te woord staan/,
      /u (?:bent verbonden met|heeft gebeld met)|dit is de (?:voicemail|telefoon) van/,
      /(?:bel|bellen) (?:\w{1,30} ){0,4}terug|zo (?:snel|spoedig) mogelijk/,
      /(?:kantoor|winkel|praktijk) (?:\w{1,30} ){0,3}gesloten/,
      /onze openingstijden zijn|bereikbaar van/,
      /\blaat (?:\w{1,30} ){0,2}naam (?:\w{1,30} ){0,3}achter/,
    ],
    speaksOfOthers: /\b(?:hij|zij|ze|(?:meneer|mevrouw) \w{1,30}) (?:is|komt|heeft)\b|\bis (?:hij|ze|zij)\b/,
    menu: [
      /(?:toets|kies|druk op) (?:\w{1,30} ){0,3}(?:\d|een|twee|drie|vier|nul|hekje|sterretje)/,
      /hoofdmenu|keuzemenu|volgende (?:opties|keuzes)/,
      /(?:gesprek|gesprekken) (?:\w{1,30} ){0,5}opgenomen/,
      /(?:medewerkers|lijnen) (?:\w{1,30} ){0,4}(?:bezet|in gesprek)|een van onze medewerkers|wachtenden voor u/,
    ],
    screening: [
      /(?:zeg|noem|geef|vertel|spreek) (?:\w{1,30} ){0,4}(?:uw|je) naam/,
      /reden van (?:uw|je) (?:oproep|telefoontje|gesprek)|waarom (?:u|je) belt/,
      /wie (?:kan|mag) ik (?:zeggen|aankondigen)/,
    ],
    offers:
      /(?:kan|zal|mag) ik (?:\w{1,30} ){0,4}(?:boodschap|bericht|doorgeven)|wilt u (?:\w{1,30} ){0,3}(?:boodschap|bericht)/,
    asks: /met wie spreek ik|wie (?:bent u|is dit|belt)|wie kan ik zeggen/,
    introduces: /\b(?:u spreekt met|je spreekt met|mijn naam is|met) \w{1,30}/,
    company: [/(?:waarmee|hoe|waar) kan ik u (?:mee )?(?:helpen|van dienst)/, /u spreekt met \w{1,30}/],
  },
  doNotCall: [
    /\bbel(?:t u|len jullie)? (?:me|mij|ons|hier|dit nummer)? ?(?:alstublieft )?(?:niet|nooit) (?:meer|weer)\b|\bniet meer (?:bellen|gebeld worden|gebeld)\b|\bstop(?:t u)? met bellen\b/,
    /\b(?:haal|verwijder|schrap)\w{0,2} (?:\w{1,30} ){0,3}(?:nummer|lijst|bestand)\b|\bbel me niet register\b/,
  ],
  saysAi: /\b(?:ai|kunstmatige intelligentie|virtuele assistent|(?:chat|voice)bot|robot|automatische oproep)\b/,
  reading: {
    marks: {
      at: 'apenstaartje',
      dot: 'punt',
      slash: 'slash',
      dash: 'streepje',
      underscore: 'laag streepje',
      plus: 'plus',
    },
    dollars: { other: 'dollar' },
    pounds: { other: 'pond' },
    money: '{whole} {hundredths}',
    clock: { full: '{h} uur', minutes: '{h} uur {m}' },
    inFull: {
      'dhr.': 'de heer',
      'mevr.': 'mevrouw',
      'mw.': 'mevrouw',
      'bijv.': 'bijvoorbeeld',
      'ca.': 'circa',
      'nr.': 'nummer',
      'tel.': 'telefoon',
      'o.a.': 'onder andere',
      'd.w.z.': 'dat wil zeggen',
      'a.u.b.': 'alstublieft',
      'evt.': 'eventueel',
      'blz.': 'bladzijde',
    },
  },
  abbreviations: [
    'dhr',
    'mevr',
    'mw',
    'dr',
    'prof',
    'ir',
    'mr',
    'bijv',
    'ca',
    'enz',
    'nr',
    'tel',
    'o.a',
    'd.w.z',
    'a.u.b',
    'evt',
    'blz',
    'min',
    'max',
  ],
  dottedOrdinals: false,
}
