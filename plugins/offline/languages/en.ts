import { groups, type Language, set } from './language.ts'

export const english: Language = {
  code: 'en',
  stopWords: set(
    `a about above after again all also am an and any are as at be been before being but by can could did do does doing
    for from get give had has have having he her here hers him his how i if in into is it its itself just know let like
    may me might more most my no nor not of off on once only or other our ours out over own please same shall she should
    so some such tell than that the their them then there these they this those through to too under until up us very want
    was we were what when where which while who whom why will with would yes you your yours okay ok hello hi hey um uh
    im youre dont doesnt whats id ill theres need there much many bring come go take make use offer possible time`,
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
    'much price cost fee charge pay expensive cheap free euro dollar pound',
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
    whoAreYou: "I'm the AI assistant on this line.",
    unknown: "I'm sorry, I don't know that.",
    nothingToRepeat: "I haven't said anything yet.",
    prompt: 'What would you like to know?',
  },
}
