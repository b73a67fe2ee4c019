import { groups, type Language, set } from './language.ts'

export const french: Language = {
  code: 'fr',
  stopWords: set(
    `a ai ainsi au aux avec avez avons c ce ces cet cette combien comme comment d dans de des du elle elles en est et etes
    eu il ils j je l la le les leur leurs lui ma mais me mes moi mon n ne nos notre nous on ont ou par pas peut peux pour puis
    qu quand que quel quelle quelles quels qui s sa sans se ses si son sont sur t ta te tes toi ton tu un une vos votre vous y
    bonjour plait voudrais faire fait parlez parle racontez plus heure heures
    jusqu jusque partir possible prendre venir puis amener apporter`,
  ),
  endings: [
    'issements',
    'issement',
    'ations',
    'ation',
    'ement',
    'antes',
    'ante',
    'ees',
    'ent',
    'ons',
    'ant',
    'ez',
    'er',
    'ee',
    'es',
    'e',
    's',
  ],
  irregular: { ouvert: 'ouvr', ouverte: 'ouvr', ouverts: 'ouvr', ferme: 'ferm', fermee: 'ferm', heures: 'heur' },
  synonyms: groups(
    'ouvrez ouvert horaires heure heures fermez ferme quand',
    'ou adresse rue situe trouver',
    'prix coute cout tarif gratuit euros payer',
    'chien chiens animal animaux',
    'parking garer stationner stationnement voiture',
    'livrer livrez livraison',
    'telephone numero appeler contacter',
    'reserver reservation rendez',
  ),
  greeting: /^(bonjour|bonsoir|salut|allo)$/,
  thanks: /^merci( beaucoup| bien)?( pour .*)?$/,
  farewell: /^(merci )?(au revoir|a bientot|bonne (journee|soiree))$/,
  howAreYou: /^(bonjour )?(comment (allez vous|ca va|vas tu)|ca va)$/,
  whoAreYou: /\b(qui etes vous|qui es tu|comment vous appelez vous|quel est votre nom|a qui je parle)\b/,
  repeat: /\b(repetez|repeter|pardon|vous avez dit quoi)\b/,
  instruction:
    /^(vous (etes|repondez|travaillez|aidez)|tu (es|reponds|travailles|aides)|votre (tache|role|but|nom)|ta (tache)|ton (role|but)|toujours|jamais|ne |n invente|reponds|repondez|parle|parlez|sois|soyez|salue|saluez|aide|aidez|utilise|utilisez|si (on|le|la|l) (te|client|appelant|utilisateur))\b/,
  identity: { match: /^(?:vous êtes|tu es|tu t'appelles|vous vous appelez)\s+/i, says: 'Je suis ' },
  say: {
    greeting: 'Bonjour ! Comment puis-je vous aider ?',
    thanks: 'Je vous en prie.',
    farewell: 'Au revoir, bonne journée.',
    howAreYou: 'Très bien, merci. Comment puis-je vous aider ?',
    whoAreYou: "Je suis l'assistant IA de cette ligne.",
    unknown: "Je n'ai malheureusement pas cette information.",
    nothingToRepeat: "Je n'ai encore rien dit.",
    prompt: 'Que souhaitez-vous savoir ?',
  },
}
