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
  say: {
    greeting: 'Hallo! Wie kann ich Ihnen helfen?',
    thanks: 'Gern geschehen.',
    farewell: 'Auf Wiederhören, einen schönen Tag noch.',
    howAreYou: 'Danke, gut. Wie kann ich Ihnen helfen?',
    whoAreYou: 'Ich bin der KI-Assistent dieser Leitung.',
    unknown: 'Das weiß ich leider nicht.',
    nothingToRepeat: 'Ich habe noch nichts gesagt.',
    prompt: 'Was möchten Sie wissen?',
  },
}
