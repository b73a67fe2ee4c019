import { type Language, wordSet } from './language.ts'

export const french: Language = {
  code: 'fr',
  name: 'Français',
  instruction: 'Réponds toujours en français.',
  phrases: {
    sayAgain: 'Pardon, un problème est survenu. Pouvez-vous répéter, s’il vous plaît ?',
    didNotCatch: 'Pardon, je n’ai pas compris. Pouvez-vous répéter, s’il vous plaît ?',
    cannotHear: 'Excusez-moi, je ne vous entends pas pour l’instant. Un instant, s’il vous plaît.',
    stillThere: 'Vous êtes toujours là ?',
    oneMoment: 'Un instant, s’il vous plaît.',
    stillHere: 'Je suis toujours là, encore un instant.',
    bye: 'Au revoir.',
    goodbye: 'Je suis désolé, un problème technique m’oblige à terminer l’appel. Veuillez réessayer plus tard.',
    transferring: 'Un instant, je vous transfère.',
    takeCall: 'Souhaitez-vous prendre l’appel ? Dites oui ou appuyez sur 1. Pour refuser, dites non ou appuyez sur 2.',
    transferFailed: 'Je suis désolé, personne n’a pu être joint. Que puis-je faire d’autre pour vous ?',
    takenOver: 'Un collègue prend maintenant votre appel.',
    givenBack: 'Je suis de nouveau avec vous. Comment puis-je vous aider ?',
  },
  openEndings: wordSet(`
    le la les l' un une des du de d' au aux mon ma mes ton ta tes son sa ses notre nos votre vos leur leurs et ou mais donc car
    parce que qu' si quand lorsque comme à en dans sur sous pour par avec sans chez entre vers depuis je j' tu il on nous
    ne n' me m' te se s' est sont c'est très plus euh heu ben`),
  backchannels: wordSet(`
    mm mmm mhm mm-hm hm hmm ah aha oh oui ouais ok okay d'accord daccord d accord bien bon voilà exact exactement parfait
    entendu super très je vois euh`),
  commonWords: wordSet(`
    le la les des du et est sont je vous nous il elle que qui ne pas un une pour avec dans sur au aux ce cette mon votre quel
    quelle quelles quand où comment combien bonjour merci oui non voudrais avez êtes plaît c'est l'heure heures à toujours français`),
  consent: {
    yes: /\b(?:oui|ouais|d accord|bien sur|volontiers|entendu|ok|okay|allez y|j accepte|tout a fait|si vous voulez|certainement)\b/,
    no: /\b(?:non|pas|jamais|je refuse)\b/,
    yesDespiteNo: /\bpas de (?:probleme|souci)\b|\bpourquoi pas\b|\bne me derange pas\b|\baucun probleme\b/,
  },
  answering: {
    machine: [
      /laiss\w{1,30} (?:\w{1,30} ){0,3}message(?! pour (?:lui|elle))/,
      /apres le (?:bip|signal)/,
      /messagerie|repondeur|boite vocale/,
      /(?:correspondant|numero|personne) (?:\w{1,30} ){0,8}(?:pas|plus) (?:\w{1,30} )?(?:disponible|joignable|attribue)/,
    ],
    full: [
      /(?:messagerie|boite|repondeur) (?:\w{1,30} ){0,3}(?:pleine?|saturee?)|plus (?:accepter|recevoir|enregistrer) (?:\w{1,30} ){0,2}messages?/,
    ],
    hints: [
      /(?:n est|ne suis|suis|sommes|est) pas (?:\w{1,30} )?(?:disponible|joignable|la|chez|au bureau)|(?:est|suis) absente?|ne (?:peux|pouvons) pas (?:vous )?repondre/,
      /vous etes bien (?:chez|sur|au|en)/,
      /(?:je|nous) vous (?:rappelle\w{0,30}|recontacte\w{0,30})|des que possible/,
    ],
    menu: [
      /(?:tapez|appuyez|composez|faites) (?:\w{1,30} ){0,4}(?:\d|un|deux|trois|quatre|zero|diese|etoile)/,
      /menu principal|choix suivants/,
      /(?:appel|conversation|communication) (?:\w{1,30} ){0,5}enregistree?/,
      /(?:conseillers|lignes|operateurs|agents) (?:\w{1,30} ){0,4}(?:occupee?s|en ligne)|(?:ne quittez pas|patientez|veuillez patienter)/,
    ],
    screening: [/(?:dites|indiquez|donnez) (?:\w{1,30} ){0,3}votre nom|motif de (?:votre|l) appel/],
    offers: /(?:voulez vous|souhaitez vous|puis je|je peux) (?:\w{1,30} ){0,5}message/,
    asks: /qui est a l appareil|qui (?:m )?appelle|c est qui|c est de la part de qui|qui est ce/,
    introduces: /\b(?:je suis|je m appelle|ici)\b/,
    company: [
      /(?:comment|en quoi) (?:puis je|pouvons nous|je peux) vous (?:aider|renseigner)|que puis je (?:faire )?pour vous/,
      /\w{1,30} a votre (?:ecoute|service)/,
    ],
  },
  abbreviations: ['M', 'MM', 'Mme', 'Mlle', 'Dr', 'Pr', 'av', 'bd', 'env', 'etc', 'p. ex', 'p.ex', 'tél', 'no'],
  keys: ['zéro', 'un', 'deux', 'trois', 'quatre', 'cinq', 'six', 'sept', 'huit', 'neuf'],
}
