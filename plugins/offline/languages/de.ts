import { groups, type Language, set } from './language.ts'

export const german: Language = {
  code: 'de',
  stopWords: set(
    `aber als am an auch auf aus bei bin bis bist da das dass dein deine dem den der des die dies diese dieser dieses doch du durch
    ein eine einem einen einer eines er es euch euer fur gibt hab habe haben habt hat hatte ich ihr ihre ihren im in ist ja kann
    kein keine konnen mein meine mich mir mit muss nach nicht noch nur ob oder sein seine sich sie sind so uber um und uns unser
    unsere vom von vor wann war was welche welchen welcher wenn wer wie wieviel viel wir wird wo wohin zu zum zur hallo bitte sagen mochte erzahlen erzahl mehr uber
    uhr meinen meinem meiner ihrem ihres mitbringen bringen machen macht ab bei ihnen darf durfen konnte sollen wollen moglich geben`,
  ),
  endings: ['ungen', 'ung', 'ende', 'enden', 'ern', 'en', 'er', 'es', 'em', 'et', 'e', 'n', 's', 't'],
  irregular: {
    geoffnet: 'offn',
    offnet: 'offn',
    offnen: 'offn',
    offen: 'offn',
    geschlossen: 'schliess',
    kostet: 'kost',
    kosten: 'kost',
  },
  synonyms: groups(
    'offnen geoffnet offen offnungszeiten uhr wann schliessen geschlossen',
    'wo adresse strasse finden liegt',
    'preis kosten kostet teuer kostenlos gratis euro bezahlen zahlen',
    'zahlen bezahlen karte bar',
    'parken parkplatz parkplatze garage auto',
    'hund hunde haustier haustiere',
    'liefern lieferung lieferzeit',
    'anreise anreisen einchecken ankommen',
    'abreise abreisen auschecken',
    'telefon nummer anrufen kontakt',
    'buchen termin reservieren reservierung',
  ),
  greeting: /^(hallo|guten (tag|morgen|abend)|gruss gott|servus|moin)$/,
  thanks: /^(vielen )?dank(e)?( schon| sehr| fur .*)?$/,
  farewell: /^(danke )?(tschuss|auf wieder(horen|sehen)|bis (bald|dann))$/,
  howAreYou: /^(hallo )?(wie geht es (ihnen|dir)|wie gehts)$/,
  whoAreYou: /\b(wer (bist du|sind sie)|wie (heisst du|heissen sie)|mit wem spreche ich)\b/,
  repeat: /\b(wiederholen|noch ?mal|wie bitte)\b/,
  instruction:
    /^(du (bist|sollst|musst|kannst|darfst|hilfst)|sie sind (ein|eine|der|die)|deine (aufgabe|rolle)|ihre (aufgabe|rolle)|dein (ziel|name)|immer|niemals?|antworte|antworten sie|sprich|sprechen sie|sei|seien sie|begrusse|hilf|helfen sie|nutze|verwende|erfinde|wirst du|wenn (der|ein) (anrufer|kunde|nutzer))\b/,
  identity: { match: /^(?:du bist|sie sind|du heißt)\s+/i, says: 'Ich bin ' },
  calling: {
    deeds: groups(
      'buchen reservieren reservierung termin vereinbaren book booking reserve reservation appointment',
      'stornieren absagen stornierung loschen cancel cancellation delete',
      'verbinden durchstellen sprechen mensch mitarbeiter person jemand kollege transfer connect support',
      'status wo stand verfolgen sendung track',
      'finden suchen nachsehen prufen find look search check get show',
      'frei verfugbar verfugbarkeit available availability',
      'bestellen bestellung kaufen order buy',
      'andern verschieben umbuchen change move update',
      'tisch table',
      'anrufen ruckruf callback call',
      'wetter weather',
    ),
    days: ['heute', 'morgen', 'ubermorgen'],
    time: {
      before: { um: 0, gegen: 0, halb: -30, 'viertel nach': 15, 'viertel vor': -15 },
      after: { uhr: 0 },
      afternoon: /\b(?:nachmittags?|abends?|heute abend)\b/,
    },
    nameLead:
      /\b(?:mein name ist|ich heiße|ich heisse|auf den namen|unter dem namen|name ist|name|ich bin|hier ist|hier spricht)\s+/i,
    placeLead: /\b(?:in|nach|bei|für|aus|von)\s+/gi,
    answerLead:
      /^(?:(?:ja|ok|okay|gut|also|äh),?\s+)?(?:das ist|es ist|ich möchte|ich hätte gern|meine \w+ ist|mein \w+ ist|die \w+ ist|der \w+ ist|für|am|um|in)\s+/i,
    spelled: { at: /\s+(?:at|ät|klammeraffe)\s+/gi, dot: /\s+punkt\s+/gi },
    yes: /^(?:ja|jawohl|gern|gerne|klar|genau|richtig|ok|okay|bitte)\b/,
    no: /^(?:nein|nee|nicht|kein\w*)\b/,
    nevermind: /\b(?:vergessen sie (?:es|das)|vergiss (?:es|das)|doch nicht|egal|lassen wir das)\b/,
  },
  say: {
    greeting: 'Hallo! Wie kann ich Ihnen helfen?',
    thanks: 'Gern geschehen.',
    farewell: 'Auf Wiederhören, einen schönen Tag noch.',
    howAreYou: 'Danke, gut. Wie kann ich Ihnen helfen?',
    whoAreYou: 'Ich bin der KI-Assistent dieser Leitung.',
    unknown: 'Das weiß ich leider nicht.',
    nothingToRepeat: 'Ich habe noch nichts gesagt.',
    prompt: 'Was möchten Sie wissen?',
    tell: 'Bitte sagen Sie mir noch:',
    done: 'Das ist erledigt.',
    failed: 'Das hat leider nicht geklappt.',
    moment: 'Einen Moment, bitte.',
    yes: 'ja',
    no: 'nein',
  },
}
