/** What the offline language model knows of a language. */
export interface Language {
  code: string
  /** Words that carry no topic, question words among them; without accents. */
  stopWords: ReadonlySet<string>
  /** Endings a stem is found by, longest first. */
  endings: readonly string[]
  /** Stems that no ending gives. */
  irregular: Readonly<Record<string, string>>
  /** Words that ask for the same thing. A word of a group stands for the others at a reduced weight. */
  synonyms: readonly (readonly string[])[]
  greeting: RegExp
  thanks: RegExp
  farewell: RegExp
  howAreYou: RegExp
  whoAreYou: RegExp
  repeat: RegExp
  /** How a system prompt gives orders: such a sentence is no fact. */
  instruction: RegExp
  /** "You are Ava, …" → "I am Ava, …". */
  identity: { match: RegExp; says: string }
  say: {
    greeting: string
    thanks: string
    farewell: string
    howAreYou: string
    whoAreYou: string
    unknown: string
    nothingToRepeat: string
    prompt: string
  }
}

const set = (text: string): ReadonlySet<string> => new Set(text.split(/\s+/))
const groups = (...lines: string[]): string[][] => lines.map((line) => line.split(' '))

const english: Language = {
  code: 'en',
  stopWords: set(
    `a about above after again all also am an and any are as at be been before being but by can could did do does doing
    for from get give had has have having he her here hers him his how i if in into is it its itself just know let like
    may me might more most my no nor not of off on once only or other our ours out over own please same shall she should
    so some such tell than that the their them then there these they this those through to too under until up us very want
    was we were what when where which while who whom why will with would yes you your yours okay ok hello hi hey um uh
    im youre dont doesnt whats id ill theres need there much many bring come go take make use offer possible`,
  ),
  endings: [
    'ations',
    'ation',
    'ingly',
    'ings',
    'edly',
    'ies',
    'ing',
    'ers',
    'est',
    'ed',
    'er',
    'es',
    'ly',
    's',
    'y',
    'e',
  ],
  irregular: {
    cost: 'cost',
    costs: 'cost',
    hours: 'hour',
    children: 'child',
    paid: 'pay',
    sold: 'sell',
    parking: 'park',
  },
  synonyms: groups(
    'open hour time when schedule',
    'open close',
    'where address located location street find situated',
    'much price cost fee charge pay expensive cheap euro dollar pound',
    'phone call number contact reach email',
    'book booking appointment reserve reservation schedule',
    'cancel refund return money',
    'ship shipping deliver delivery arrive',
    'park parking car garage',
    'pet dog cat animal',
    'speak language languages',
  ),
  greeting: /^(hi|hello|hey|good (morning|afternoon|evening)|greetings)( there| to you)?$/,
  thanks: /^(ok(ay)? )?(thanks|thank you|cheers)( very much| so much| a lot)?( for .*)?$/,
  farewell: /^(ok(ay)? )?(thanks |thank you )?(bye|goodbye|bye bye|good night|see you)( then| later| soon)?$/,
  howAreYou: /^((hi|hello) )?how are you( doing)?( today)?$/,
  whoAreYou: /\b(who are you|who am i (speaking|talking) (to|with)|what( is)? your name|who is this)\b/,
  repeat: /\b(repeat (that|it)|say (that|it) again|pardon|what did you say|come again)\b/,
  instruction:
    /^(you (are|re|will|should|must|have to|need to|work|help|answer|act|speak|take)\b|your (task|goal|role|job|name|tone|answers?|purpose)\b|(always|never|do not|dont|please|act|be|keep|speak|use|answer|respond|reply|ask|greet|help|avoid|make sure|remember|try|stay|offer|if (the |a )?(caller|customer|user|client|patient|guest|you)|when (the |a )?(caller|customer|user)|only (answer|speak|talk))\b)/,
  identity: { match: /^(?:you are|you're|your name is)\s+/i, says: "I'm " },
  say: {
    greeting: 'Hello! How can I help you?',
    thanks: "You're welcome.",
    farewell: 'Goodbye, and have a good day.',
    howAreYou: "I'm fine, thank you. How can I help you?",
    whoAreYou: "I'm the assistant on this line.",
    unknown: "I'm sorry, I don't know that.",
    nothingToRepeat: "I haven't said anything yet.",
    prompt: 'What would you like to know?',
  },
}

const spanish: Language = {
  code: 'es',
  stopWords: set(
    `a al algo ante como con cual cuales cuando cuanto cuanta cuantos de del desde donde el ella ellos en entre era es esa ese eso
    esta estan estas este esto estoy fue ha hay la las le les lo los mas me mi mis muy no nos nosotros o para pero por porque puede
    puedo que quien quiero se ser si sin sobre son su sus tambien te tengo tiene tienen tienes tu tus un una uno unos usted ustedes
    y ya yo hola favor`,
  ),
  endings: [
    'aciones',
    'acion',
    'amente',
    'iendo',
    'ando',
    'ados',
    'idas',
    'idos',
    'adas',
    'amos',
    'imos',
    'ado',
    'ida',
    'ido',
    'ada',
    'an',
    'en',
    'ar',
    'er',
    'ir',
    'es',
    'as',
    'os',
    'a',
    'o',
    'e',
    's',
  ],
  irregular: {},
  synonyms: groups(
    'abren abierto horario hora cierran cerrado',
    'donde direccion calle ubicado',
    'precio cuesta coste euros pagar',
    'telefono numero llamar contacto',
    'reservar reserva cita',
  ),
  greeting: /^(hola|buenos dias|buenas( tardes| noches)?)$/,
  thanks: /^(muchas )?gracias( por .*)?$/,
  farewell: /^(gracias )?(adios|hasta (luego|pronto)|chao)$/,
  howAreYou: /^(hola )?(como estas|como esta( usted)?|que tal)$/,
  whoAreYou: /\b(quien eres|quien es usted|como te llamas|como se llama|con quien hablo)\b/,
  repeat: /\b(repite|repita|puede repetir|otra vez|como dice)\b/,
  instruction:
    /^(eres|usted es|tu (tarea|papel|objetivo|nombre)|su (tarea|papel|objetivo)|siempre|nunca|no (digas|diga|inventes|des)|responde|responda|contesta|conteste|habla|hable|se (amable|breve)|saluda|salude|ayuda|ayude|usa|use|si el (cliente|usuario))\b/,
  identity: { match: /^(?:eres|usted es|te llamas)\s+/i, says: 'Soy ' },
  say: {
    greeting: '¡Hola! ¿En qué puedo ayudarle?',
    thanks: 'De nada.',
    farewell: 'Adiós, que tenga un buen día.',
    howAreYou: 'Muy bien, gracias. ¿En qué puedo ayudarle?',
    whoAreYou: 'Soy el asistente de esta línea.',
    unknown: 'Lo siento, eso no lo sé.',
    nothingToRepeat: 'Todavía no he dicho nada.',
    prompt: '¿Qué desea saber?',
  },
}

const french: Language = {
  code: 'fr',
  stopWords: set(
    `a ai ainsi au aux avec avez avons c ce ces cet cette combien comme comment d dans de des du elle elles en est et etes
    eu il ils j je l la le les leur leurs lui ma mais me mes moi mon n ne nos notre nous on ont ou par pas peut peux pour puis
    qu quand que quel quelle quelles quels qui s sa sans se ses si son sont sur t ta te tes toi ton tu un une vos votre vous y
    bonjour plait voudrais faire fait`,
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
    'ouvrez ouvert horaires heures fermez ferme',
    'ou adresse rue situe trouver',
    'prix coute cout tarif euros payer',
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
    /^(vous etes|tu es|votre (tache|role|but|nom)|ta (tache)|ton (role|but)|toujours|jamais|ne |n invente|reponds|repondez|parle|parlez|sois|soyez|salue|saluez|aide|aidez|utilise|utilisez|si (le|la|l) (client|appelant|utilisateur))\b/,
  identity: { match: /^(?:vous êtes|tu es|tu t'appelles|vous vous appelez)\s+/i, says: 'Je suis ' },
  say: {
    greeting: 'Bonjour ! Comment puis-je vous aider ?',
    thanks: 'Je vous en prie.',
    farewell: 'Au revoir, bonne journée.',
    howAreYou: 'Très bien, merci. Comment puis-je vous aider ?',
    whoAreYou: "Je suis l'assistant de cette ligne.",
    unknown: 'Je suis désolé, je ne sais pas.',
    nothingToRepeat: "Je n'ai encore rien dit.",
    prompt: 'Que souhaitez-vous savoir ?',
  },
}

const german: Language = {
  code: 'de',
  stopWords: set(
    `aber als am an auch auf aus bei bin bis bist da das dass dein deine dem den der des die dies diese dieser dieses doch du durch
    ein eine einem einen einer eines er es euch euer fur gibt hab habe haben habt hat hatte ich ihr ihre ihren im in ist ja kann
    kein keine konnen mein meine mich mir mit muss nach nicht noch nur ob oder sein seine sich sie sind so uber um und uns unser
    unsere vom von vor wann war was welche welchen welcher wenn wer wie wieviel viel wir wird wo wohin zu zum zur hallo bitte sagen mochte`,
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
    'preis kosten kostet euro bezahlen',
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
    /^(du (bist|sollst|musst|kannst|darfst|hilfst)|sie sind (ein|eine|der|die)|deine (aufgabe|rolle)|ihre (aufgabe|rolle)|dein (ziel|name)|immer|niemals?|antworte|antworten sie|sprich|sprechen sie|sei|seien sie|begrusse|hilf|helfen sie|nutze|verwende|erfinde|wenn (der|ein) (anrufer|kunde|nutzer))\b/,
  identity: { match: /^(?:du bist|sie sind|du heißt)\s+/i, says: 'Ich bin ' },
  say: {
    greeting: 'Hallo! Wie kann ich Ihnen helfen?',
    thanks: 'Gern geschehen.',
    farewell: 'Auf Wiederhören, einen schönen Tag noch.',
    howAreYou: 'Danke, gut. Wie kann ich Ihnen helfen?',
    whoAreYou: 'Ich bin der Assistent dieser Leitung.',
    unknown: 'Das weiß ich leider nicht.',
    nothingToRepeat: 'Ich habe noch nichts gesagt.',
    prompt: 'Was möchten Sie wissen?',
  },
}

/** The first is used where nothing tells the language. */
export const LANGUAGES: readonly [Language, ...Language[]] = [english, spanish, french, german]

/** The language of a tag such as `fr-CA`, or English. */
export function languageOf(tag: string | undefined): Language {
  const code = tag?.split(/[-_+]/)[0]?.toLowerCase()
  return LANGUAGES.find((language) => language.code === code) ?? LANGUAGES[0]
}
