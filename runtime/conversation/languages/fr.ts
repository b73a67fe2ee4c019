import { type Language, overWords, phraseList, wordSet } from './language.ts'

export const french: Language = {
  code: 'fr',
  name: 'Français',
  writing: 'spaced',
  orders: {
    language: 'Réponds toujours en français et vouvoie l’interlocuteur, sauf consigne contraire.',
    sayAi: 'Si on te demande si tu es une personne, dis que tu es une intelligence artificielle.',
  },
  phrases: {
    sayAgain: 'Pardon, j’ai eu un petit souci technique. Vous pouvez répéter, s’il vous plaît ?',
    didNotCatch: 'Pardon, je n’ai pas compris. Pouvez-vous répéter, s’il vous plaît ?',
    cannotHear: 'Excusez-moi, je ne vous entends plus. Restez en ligne, s’il vous plaît.',
    stillThere: 'Vous êtes toujours là ?',
    oneMoment: 'Un instant, s’il vous plaît.',
    stillHere: 'J’y suis presque, encore un petit moment.',
    bye: 'Au revoir.',
    goodbye:
      'Toutes mes excuses, un problème technique m’oblige à mettre fin à l’appel. Merci de rappeler un peu plus tard.',
    transferring: 'Un instant, je vous mets en relation.',
    takeCall: 'Souhaitez-vous prendre l’appel ? Dites oui ou faites le 1. Pour refuser, dites non ou faites le 2.',
    transferFailed: 'Désolé, je n’ai réussi à joindre personne. Puis-je vous aider autrement ?',
    almostOver: "Notre temps est presque écoulé : l'appel se terminera dans quelques secondes.",
    cannotSay: 'Désolé, je ne peux rien dire à ce sujet.',
    disclosure: 'Vous parlez avec un assistant vocal : c’est une intelligence artificielle.',
    recordingNotice:
      'Cet appel est enregistré afin d’améliorer notre service. Vous pouvez vous y opposer : il suffit de me le dire.',
    recordingConsent:
      'Puis-je enregistrer cet appel afin d’améliorer notre service ? Dites oui ou non, ou faites le 1 pour oui, le 2 pour non.',
    voicemail:
      'Bonjour, ici un assistant vocal, une intelligence artificielle. Nous souhaitions vous parler et rappellerons plus tard. Au revoir.',
    abandoned:
      'Bonjour, ceci est un appel automatique de {{workspace}}. Nous souhaitions vous parler, mais personne n’est disponible pour le moment. Pour nous joindre ou ne plus recevoir d’appels, composez le {{from_number}}. Au revoir.',
  },
  informal: {
    order: 'Réponds toujours en français et tutoie l’interlocuteur.',
    phrases: {
      sayAgain: 'Pardon, j’ai eu un petit souci technique. Tu peux répéter, s’il te plaît ?',
      didNotCatch: 'Pardon, je n’ai pas compris. Tu peux répéter, s’il te plaît ?',
      cannotHear: 'Excuse-moi, je ne t’entends plus. Reste en ligne, s’il te plaît.',
      stillThere: 'Tu es toujours là ?',
      oneMoment: 'Un instant, s’il te plaît.',
      bye: 'Au revoir, à bientôt.',
      transferring: 'Un instant, je te mets en relation.',
      takeCall: 'Tu veux prendre l’appel ? Dis oui ou fais le 1. Pour refuser, dis non ou fais le 2.',
      transferFailed: 'Désolé, je n’ai réussi à joindre personne. Je peux t’aider autrement ?',
      disclosure: 'Tu parles avec un assistant vocal : c’est une intelligence artificielle.',
    },
  },
  regions: {
    FR: {
      order: 'Réponds toujours en français de France et vouvoie l’interlocuteur, sauf consigne contraire.',
      informalOrder: 'Réponds toujours en français de France et tutoie l’interlocuteur.',
    },
    CA: {
      order: 'Réponds toujours en français québécois et vouvoie l’interlocuteur, sauf consigne contraire.',
      informalOrder: 'Réponds toujours en français québécois et tutoie l’interlocuteur.',
      phrases: {
        transferring: 'Un instant, je vous transfère.',
        takeCall:
          'Souhaitez-vous prendre l’appel ? Dites oui ou appuyez sur le 1. Pour refuser, dites non ou appuyez sur le 2.',
      },
      informal: {
        transferring: 'Un instant, je te transfère.',
        takeCall: 'Veux-tu prendre l’appel ? Dis oui ou appuie sur le 1. Pour refuser, dis non ou appuie sur le 2.',
      },
    },
  },
  openEndings: wordSet(`
    nom_est prénom_est numéro_est adresse_est besoin_de le la les l' des du d' au aux mon ma mes ton ta tes son sa ses notre nos votre vos
    leur leurs et ou car parce que qu' si lorsque à en dans sur sous pour par chez entre vers j' tu on ne n' me m' te t' se s' c'est très
    euh heu ben bah j'ai cette ces cet quel quelle dès chaque enfin`),
  looseEndings: wordSet(`
    un une de mais donc quand comme avec sans depuis je il nous est sont plus suis ai ont qui alors contre genre`),
  holdOns: phraseList(`
    voyons, attendez, attends, un instant, un moment, une seconde, laissez moi réfléchir, laissez moi voir, comment dire, non attendez,
    voyons voir, je regarde, je vérifie, je réfléchis, un moment s'il vous plaît, un instant s'il vous plaît, une seconde s'il vous plaît,
    une petite seconde, deux secondes, deux minutes, une minute, un petit instant, attendez une seconde, attendez un instant,
    attendez un peu, attends une seconde, patientez, patientez un instant, laissez-moi regarder, laissez-moi vérifier,
    laissez-moi chercher, laisse-moi réfléchir, laisse-moi regarder, que je regarde, que je vérifie, que je réfléchisse,
    donnez-moi une minute, donnez-moi une seconde, donnez-moi un instant, comment ça s'appelle déjà, comment dirais-je, je le cherche,
    je cherche, comment ça s'appelle, je suis en train de chercher, c'était quoi déjà, laissez-moi juste réfléchir, laissez-moi juste regarder, je prends mon agenda,
    donnez-moi juste une seconde`),
  asksOpenly:
    /^(?:\S+ )?(?:que|quoi|quel|quels|quelle|quelles|qui|comment|quand|ou|pourquoi|combien)\b|\b(?:dire|decrire|expliquer|donner)\b/u,
  dictation: {
    digits: wordSet('zéro un deux trois quatre cinq six sept huit neuf double'),
    asksNumber: /\b(?:numero|code|pin|chiffres|iban)\b/u,
    asksPhone: /\b(?:telephone|portable|mobile)\b/u,
    phoneDigits: 10,
    asksSpelling: /\b(?:epeler|epelez|epelle|ecrit)\b/u,
  },
  backchannels: phraseList(`
    mm, mmm, mmh, mhm, mm-hm, hm, hmm, hum, ah, aha, oh, oui, ouais, ok, okay, d'accord, daccord, bien, bon, voilà, exact, exactement,
    parfait, entendu, super, très bien, je vois, c'est ça, bien sûr, tout à fait, ça marche, je comprends, compris, absolument,
    effectivement, nickel, c'est bon, génial, ah oui, ah d'accord, oui bien sûr, évidemment, carrément, certes, volontiers, c'est vrai,
    c'est noté`),
  commonWords: wordSet(`
    le la les des du et est sont je vous nous il elle que qui ne pas un une pour avec dans sur au aux ce cette mon votre quel quelle
    quelles quand où comment combien bonjour merci oui non voudrais avez êtes plaît c'est l'heure heures à toujours français bonsoir allô
    j'ai j'aimerais suis`),
  consent: {
    yes: phraseList(`
      oui, ouais, d'accord, bien sûr, volontiers, entendu, ok, okay, allez-y, j'accepte, tout à fait, certainement, c'est bon, ça marche,
      ça me va, parfait, très bien, vas-y, absolument, je veux bien, sans problème, aucun souci, aucun problème, faites donc,
      pas de problème, pas de souci, pas de soucis, ça ne me dérange pas, ça me dérange pas, cela ne me dérange pas,
      je n'y vois pas d'inconvénient, j'y vois pas d'inconvénient, aucun inconvénient, pas d'inconvénient, je n'ai rien contre,
      j'ai rien contre, je suis d'accord, je consens, vous pouvez, vous pouvez enregistrer, vous pouvez y aller, si vous voulez,
      pas d'objection, aucune objection, je vous autorise, je vous y autorise, évidemment, avec plaisir, bien entendu,
      je n'ai pas d'objection, je n'ai aucune objection, je donne mon accord, ça me convient, cela me convient, faites, oui faites,
      ça ne me gêne pas, ça me gêne pas, allez-y je vous en prie, c'est d'accord pour moi`),
    alone: phraseList("exact, c'est d'accord, ça va, oui ça va, bien, affirmatif, oui oui ça va"),
    rhetorical: phraseList('pourquoi pas, oui pourquoi pas, ouais pourquoi pas'),
    beside: phraseList(`
      s'il vous plaît, merci, merci bien, monsieur, madame, vous pouvez, enregistrer, l'appel, cet appel, enregistrer l'appel,
      enregistrer cet appel, enregistrez, pour moi, avec ça, pour ça, ça, y aller, je vous en prie, faites, si vous voulez`),
    lead: phraseList('euh, heu, ben, bah, ah, oh, alors, bon, hum, hm, eh bien, écoutez'),
    no: phraseList(
      'non, jamais, pas du tout, surtout pas, hors de question, pas question, nan, sûrement pas, certainement pas, pas encore, pas vraiment',
    ),
    refuses: overWords([
      /\bne donne pas (?:\w+ ){0,2}(?:accord|consentement|autorisation)\b|\bpréfère (?:\w+ )?(?:sans|pas)\b|\b(?:ne )?m enregistrez (?:pas|surtout pas)\b|\bne (?:me )?convient pas\b|\b(?:me|m) convient pas\b|\babsolument pas\b|\bje ne (?:le )?souhaite pas\b|\bpas enregistré\w*\b/,
      /\bje (?:refuse|préfère(?:rais)? (?:que )?(?:non|pas|ne pas)|m y oppose|m oppose|décline)\b|\bje ne (?:veux|souhaite|préfère|suis|accepte|consens)(?: \w+)? pas\b|\bje (?:veux|souhaite|suis|accepte) pas\b/,
      /\bhors de question\b|\b(?:ça|cela) me dérange(?! pas)\b|\bn enregistrez pas\b|\bpas d enregistrement\b|\bsans enregistrement\b|\bsurtout pas\b|\bplutôt (?:non|pas)\b|\bpas d accord\b|\bbien sûr que non\b|\boui non\b/,
      /\bnon\b/,
    ]),
    unclear: overWords([
      /\b(?:vous venez de dire|avez vous dit|vous disiez)\b|\bqu est ce que vous voulez dire\b|\b(?:m a|ça m) échappé\b|\b(?:ligne|connexion|communication) est (?:\w+ )?mauvaise\b|\brépéter la question\b/,
      /\bquelle? (?:était|est) la question\b|\bc était quoi (?:la question|déjà)?\b|\bça (?:coupe|grésille)\b|\b(?:parlez|parler|parle) plus fort\b|\b(?:le|la|les) redire\b|\bredites\b|\bpas (?:compris|entendu) (?:la fin|le début)\b/,
      /\bentends (?:presque |vraiment |très )*(?:pas|mal|plus)\b|\bvous entends (?:\w+ )?mal\b|\bencore une fois\b|\bvous (?:pouvez|pourriez) répéter\b|\bqu est ce que vous\b|\bvous (?:avez dit|disiez) quoi\b|\bcomment vous dites\b/,
      /^(?:pardon|comment|quoi|hein|excusez moi|vous dites|comment ça|plaît il|pardon quoi|hein quoi|de quoi)$/,
      /\bpas (?:bien |tout |très bien )?(?:compris|entendu|saisi)\b|\b(?:comprends|entends) (?:pas|mal|rien)\b|\bvous entends (?:pas|mal|très mal)\b/,
      /\b(?:pouvez|pourriez)(?: vous)? (?:\w+ )?répéter\b|\brépétez\b|\bqu est ce que vous (?:dites|avez dit)\b|\bvous avez dit quoi\b/,
    ]),
    one: phraseList('un, le un, touche un, 1, le 1'),
    two: phraseList('deux, le deux, touche deux, 2, le 2'),
    abroad: {
      yes: phraseList("oui, oui merci, d'accord, oui d'accord, bien sûr, oui bien sûr"),
      no: phraseList('non merci, pas du tout'),
    },
  },
  answering: {
    tone: /apres (?:\w{1,30} )?(?:le |les )?(?:bip|signal|tonalite)/,
    proceeds: /\bpour (?:continuer|poursuivre|etre mis en relation)\b/,
    machine: [
      /\bfermee? jusqu (?:a|au)\b|\bhoraires (?:\w{1,30} ){0,3}sont termines\b/,
      /\b(?:notre|nos) (?:\w{1,30} ){1,4}(?:est|sont|a|ont|reste) (?:\w{1,30} ){0,3}ferme\w{0,2}\b/,
      /\b(?:nos|notre|le|la) (?:\w{1,30} ){0,2}(?:bureaux?|magasin|boutique|cabinet|secretariat|service\w{0,2}|agence) (?:\w{1,30} ){0,2}(?:est|sont) (?:\w{1,30} ){0,3}ferme\w{0,2}\b|\bfermes pour (?:les |nos )?(?:conges|vacances|travaux)\b|\brouvrira\b/,
      /\bnos horaires (?:\w{1,30} ){0,3}sont\b|\ben dehors (?:de nos|des) (?:horaires|heures)\b|\bsommes (?:\w{1,30} ){0,2}fermes\b|\brappeler (?:aux|pendant) (?:les |nos )?(?:heures|horaires)\b/,
      /\b(?:sais|savez) (?:quoi|ce qu il faut) faire\b|\blaiss\w{1,30} (?:\w{1,30} ){0,3}(?:nom|numero|coordonnees)\b|\bn est pas attribue\b|\best indisponible\b|\bne pouvons (?:pas|malheureusement pas) (?:vous )?repondre\b/,
      /laiss\w{1,30} (?:\w{1,30} ){0,3}message(?! pour (?:lui|elle))|laiss\w{1,30} (?:\w{1,30} ){0,4}coordonnees/,
      /messagerie|(?<!pas de |plus de )repondeur|boite vocale|enregistre[rz] (?:\w{1,30} )?message/,
      /(?:correspondant|numero|personne|abonnee?|client) (?:\w{1,30} ){0,8}(?:pas|plus) (?:\w{1,30} )?(?:disponible|joignable|attribue|en service)/,
      /nos bureaux sont (?:\w{1,30} ){0,2}fermes|en dehors (?:de nos |des )(?:horaires|heures)|n est (?:pas|plus) en service/,
    ],
    full: [
      /(?:messagerie|boite|repondeur) (?:\w{1,30} ){0,3}(?:pleine?|saturee?)|plus (?:accepter|recevoir|enregistrer) (?:\w{1,30} ){0,2}messages?/,
    ],
    hints: [
      /(?:n est|ne suis|suis|sommes|est) pas (?:\w{1,30} )?(?:disponible|joignable|la|chez|au bureau)|(?:est|suis) absente?|ne (?:peux|pouvons) pas (?:vous )?repondre/,
      /vous etes bien (?:chez|sur|au|en)|abonne que vous tentez/,
      /(?:je|nous) vous (?:rappelle\w{0,30}|recontacte\w{0,30})|des que possible/,
      /(?:cabinet|bureau|magasin|boutique) (?:\w{1,30} ){0,3}fermee?|\bsommes (?:\w{1,30} ){0,3}fermes\b|\bapres la fermeture\b|\b(?:bureau|accueil|centre) (?:\w{1,30} ){0,3}ferme\b/,
      /(?:nos|les) horaires (?:d ouverture|sont)|\b(?:rouvrons|rouvrira|rouvre|ouvrons) (?:\w{1,30} ){0,3}(?:a|lundi|demain|des)\b|\bpendant (?:nos|les) heures\b|\bjour ferie\b|\bde retour (?:le|a|lundi)\b/,
    ],
    speaksOfOthers: /\b(?:il|elle|monsieur \w{1,30}|madame \w{1,30}) (?:est|n est|sera|a|revient)\b/,
    menu: [
      /\b(?:tapez|appuyez sur|faites le|composez le) (?:\w{1,30} ){0,2}(?:cinq|six|sept|huit|neuf)\b|\bmunissez vous\b|\b(?:operateurs|conseillers|agents) sont (?:\w{1,30} ){0,3}(?:communication|clients|ligne)\b|\bprochain dans la file\b/,
      /\btemps d attente\b|\ben \w{1,30} position\b|\bsuivi de (?:la touche )?(?:diese|etoile)\b|\bappels sont (?:\w{1,30} ){0,2}enregistres\b|\brepondra des que possible\b/,
      /\b(?:numero de poste|poste|extension) (?:\w{1,30} ){0,3}composez\b|\bvous etes (?:\w{1,30} ){0,4}file(?: d attente)?\b|\boptions suivantes\b|\bappel est (?:tres )?important\b|\bconseiller va (?:vous|prendre)\b|\bmenu principal\b/,
      /(?:tapez|appuyez|composez|faites) (?:\w{1,30} ){0,4}(?:\d|un|deux|trois|quatre|zero|diese|etoile)/,
      /menu principal|choix suivants/,
      /(?:appel|conversation|communication) (?:\w{1,30} ){0,5}enregistree?/,
      /(?:conseillers|lignes|operateurs|agents) (?:\w{1,30} ){0,4}(?:occupee?s|en ligne)|veuillez patienter|merci de patienter/,
    ],
    screening: [
      /\b(?:dites|indiquez|precisez|dis) (?:\w{1,30} ){0,3}(?:qui vous etes|qui tu es|qui appelle)\b|\bveuillez (?:\w{1,30} )?(?:vous identifier|dire qui)\b|\bqui appelle et pourquoi\b|\bassistant d appels?\b|\bappel est (?:filtre|verifie|controle)\b|\bfiltr(?:e|age) d appels?\b/,
      /\b(?:motif|raison|objet) de (?:votre|l|ton|cet) appel\b|\bassistant virtuel de ce\b|\bservice de filtrage\b/,
      /(?:dites|indiquez|donnez|enregistrez|dis|indique|donne|precisez) (?:\w{1,30} ){0,3}(?:votre|ton) nom/,
      /(?:motif|raison|objet) de (?:votre|l|ton) appel|pourquoi vous appelez/,
      /qui dois je annoncer|filtrage d appels|(?:pas|n etes pas) un robot/,
    ],
    offers:
      /(?<!si )(?:voulez vous|souhaitez vous|vous (?:voulez|souhaitez)|puis je|je peux|desirez vous) (?:\w{1,30} ){0,5}message|je (?:prends|peux prendre|lui (?:laisse|transmets)) (?:\w{1,30} ){0,3}message/,
    asks: /qui est a l appareil|qui (?:m )?appelle|c est qui|c est de la part de qui|qui est ce/,
    introduces: /\b(?:je suis|je m appelle|ici)\b/,
    company: [
      /(?:comment|en quoi) (?:puis je|pouvons nous|je peux) vous (?:aider|renseigner)|que puis je (?:faire )?pour vous/,
      /\w{1,30} a votre (?:ecoute|service)/,
    ],
  },
  doNotCall: [
    /\b(?:ne |m |me |nous )(?:rappelez|appelez|contactez|telephonez) (?:plus|jamais)\b|\bm (?:appelle|rappelle|appelles) (?:plus|jamais)\b|\bde ne (?:plus|pas) (?:jamais )?(?:m |me |nous )?(?:appeler|rappeler|contacter|telephoner)\b|\bne me contactez plus\b/,
    /\b(?:arretez|cessez) (?:de (?:m |me |nous )?(?:appeler|telephoner|rappeler|contacter|harceler)|vos appels)\b|\bplus d appels\b|\bne veux plus (?:\w{1,30} ){0,3}(?:appels?|appelle|appelee?)\b/,
    /\b(?:effac|supprim|retir|enlev)\w{1,4} (?:\w{1,30} ){0,2}(?:(?:mon|notre) (?:numero|telephone)|(?:mon nom|moi|mes donnees) (?:\w{1,30} ){0,2}(?:liste|fichiers?|base))\b|\bretiree? de (?:votre|la) liste(?! d attente)\b/,
    /\bne (?:m|nous) (?:appelez|rappelez|telephonez) plus\b|\b(?:m|nous) (?:appelez|rappelez) plus\b|\bne me rappelez (?:plus|pas|jamais)\b|\barretez de (?:m|nous) appeler\b/,
    /\b(?:retirez|enlevez|supprimez|effacez) (?:moi|nous|mon numero|notre numero)\b|\bbloctel\b|\bplus (?:recevoir|etre) (?:\w{1,30} ){0,2}(?:appels?|appelee?)\b/,
  ],
  saysAi:
    /\b(?:ia|intelligence artificielle|(?:assistant|assistante|agent|conseiller) virtuel\w{0,2}|robot|appel automatique)\b/,
  reading: {
    marks: {
      at: 'arobase',
      dot: 'point',
      slash: 'barre oblique',
      dash: 'tiret',
      underscore: 'tiret bas',
      plus: 'plus',
    },
    dollars: { one: 'dollar', other: 'dollars' },
    pounds: { one: 'livre', other: 'livres' },
    money: '{whole} {hundredths}',
    clock: { full: '{h} heures', minutes: '{h} heures {m}' },
    inFull: {
      Mme: 'Madame',
      Mlle: 'Mademoiselle',
      'Dr.': 'Docteur',
      'p. ex.': 'par exemple',
      'p.ex.': 'par exemple',
      'env.': 'environ',
      'tél.': 'téléphone',
      'bd.': 'boulevard',
      'av.': 'avenue',
    },
  },
  abbreviations: [
    'M',
    'MM',
    'Mme',
    'Mlle',
    'Dr',
    'Pr',
    'av',
    'bd',
    'env',
    'etc',
    'p. ex',
    'p.ex',
    'tél',
    'no',
    'St',
    'Ste',
    'art',
    'chap',
    'Me',
    'boul',
    'min',
    'max',
  ],
  dottedOrdinals: false,
}
