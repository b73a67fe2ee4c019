export interface Question {
  text: string
  /** Words of the right answer, in any case. */
  expects: string
  /** Said while the agent still answers the question before. */
  bargesIn?: true
  /** Voice of espeak-ng the caller asks with; default: the script's. */
  voice?: string
}

/** What an agent of the demo knows and what its caller asks. Every question is one the simulated recogniser understands. */
export interface Script {
  agent: { agent_name: string; language: string; first_message: string; system_prompt: string }
  /** Voice of espeak-ng the caller speaks with. */
  voice: string
  questions: readonly Question[]
}

/** The answers to a caller's questions, the second of which is long enough to be interrupted. */
const english: Script = {
  agent: {
    agent_name: 'Harbour Bistro',
    language: 'en',
    first_message: 'Welcome to the Harbour Bistro. How can I help you?',
    system_prompt: `You are Ava, the host of the Harbour Bistro. Always be brief and friendly.
On Saturdays we open at ten in the morning.
Our company is a family business that has cooked fish on this pier since nineteen eighty, and we buy everything from the boats you see outside.
Delivery costs three euros anywhere in town.
We are closed on Sundays.`,
  },
  voice: 'en-us',
  questions: [
    { text: 'What time do you open on Saturday?', expects: 'ten in the morning' },
    { text: 'Tell me more about your company.', expects: 'family business' },
    { text: 'How much does delivery cost?', expects: 'three euros', bargesIn: true },
  ],
}

const german: Script = {
  agent: {
    agent_name: 'Hafenbistro',
    language: 'de',
    first_message: 'Willkommen im Hafenbistro. Wie kann ich Ihnen helfen?',
    system_prompt: `Sie sind Ava, die Gastgeberin des Hafenbistros. Seien Sie immer kurz und freundlich.
Am Samstag öffnen wir um zehn Uhr morgens.
Unsere Firma ist ein Familienbetrieb, der seit neunzehnhundertachtzig an diesem Kai Fisch kocht, und wir kaufen alles von den Booten, die Sie draußen sehen.
Die Lieferung kostet überall in der Stadt drei Euro.
Sonntags haben wir geschlossen.`,
  },
  voice: 'de',
  questions: [
    { text: 'Wann öffnen Sie am Samstag?', expects: 'zehn Uhr' },
    { text: 'Erzählen Sie mir mehr über Ihre Firma.', expects: 'Familienbetrieb' },
    { text: 'Wie viel kostet die Lieferung?', expects: 'drei Euro', bargesIn: true },
  ],
}

const spanish: Script = {
  agent: {
    agent_name: 'Bistró del Puerto',
    language: 'es',
    first_message: 'Le damos la bienvenida al Bistró del Puerto. ¿En qué puedo ayudarle?',
    system_prompt: `Eres Ava, la anfitriona del Bistró del Puerto. Sé siempre breve y amable.
Los sábados abrimos a las diez de la mañana.
Nuestra empresa es un negocio familiar que cocina pescado en este muelle desde mil novecientos ochenta, y compramos todo a los barcos que se ven fuera.
El envío cuesta tres euros en toda la ciudad.
Los domingos cerramos.`,
  },
  voice: 'es',
  questions: [
    { text: '¿A qué hora abren el sábado?', expects: 'diez de la mañana' },
    { text: 'Cuénteme más sobre su empresa.', expects: 'negocio familiar' },
    { text: '¿Cuánto cuesta el envío?', expects: 'tres euros', bargesIn: true },
  ],
}

const french: Script = {
  agent: {
    agent_name: 'Bistrot du Port',
    language: 'fr',
    first_message: 'Bienvenue au Bistrot du Port. Comment puis-je vous aider ?',
    system_prompt: `Tu es Ava, l'hôtesse du Bistrot du Port. Sois toujours brève et aimable.
Le samedi nous ouvrons à dix heures du matin.
Notre entreprise est une affaire de famille qui cuisine le poisson sur ce quai depuis mille neuf cent quatre-vingts, et nous achetons tout aux bateaux que vous voyez dehors.
La livraison coûte trois euros dans toute la ville.
Le dimanche nous sommes fermés.`,
  },
  voice: 'fr-fr',
  questions: [
    { text: 'À quelle heure ouvrez-vous le samedi ?', expects: 'dix heures' },
    { text: 'Parlez-moi de votre entreprise.', expects: 'affaire de famille' },
    { text: 'Combien coûte la livraison ?', expects: 'trois euros', bargesIn: true },
  ],
}

const italian: Script = {
  agent: {
    agent_name: 'Bistrot del Porto',
    language: 'it',
    first_message: 'Bistrot del Porto, buongiorno. Come posso aiutarla?',
    system_prompt: `Sei Ava, la padrona di casa del Bistrot del Porto. Rispondi sempre in modo breve e gentile.
Il sabato apriamo alle dieci del mattino.
La nostra azienda è un'impresa di famiglia che cucina pesce su questo molo dal millenovecentoottanta, e compriamo tutto dalle barche che si vedono fuori.
La consegna costa tre euro in tutta la città.
La domenica siamo chiusi.`,
  },
  voice: 'it',
  questions: [
    { text: 'A che ora aprite il sabato?', expects: 'dieci del mattino' },
    { text: 'Mi parli della vostra azienda.', expects: 'impresa di famiglia' },
    { text: 'Quanto costa la consegna?', expects: 'tre euro', bargesIn: true },
  ],
}

const portuguese: Script = {
  agent: {
    agent_name: 'Bistrô do Porto',
    language: 'pt',
    first_message: 'Bistrô do Porto, olá. Em que posso ajudar?',
    system_prompt: `Você é Ava, a anfitriã do Bistrô do Porto. Seja sempre breve e amável.
No sábado abrimos às dez da manhã.
A nossa empresa é um negócio de família que cozinha peixe neste cais desde mil novecentos e oitenta, e compramos tudo dos barcos que se veem lá fora.
A entrega custa três euros em toda a cidade.
No domingo estamos fechados.`,
  },
  voice: 'pt',
  questions: [
    { text: 'A que horas abrem no sábado?', expects: 'dez da manhã' },
    { text: 'Fale-me mais sobre a vossa empresa.', expects: 'negócio de família' },
    { text: 'Quanto custa a entrega?', expects: 'três euros', bargesIn: true },
  ],
}

/** The caller changes the language with each question, and is followed. */
const multi: Script = {
  agent: {
    ...english.agent,
    language: 'multi',
    system_prompt: [english, german, spanish].map(({ agent }) => agent.system_prompt).join('\n'),
  },
  voice: 'en-us',
  questions: [
    english.questions[0]!,
    { ...german.questions[1]!, voice: german.voice },
    { ...spanish.questions[2]!, voice: spanish.voice },
  ],
}

const SCRIPTS: readonly Script[] = [english, german, spanish, french, italian, portuguese, multi]

/** The script of a language tag, or `multi`. Throws on an unknown one. */
export function scriptOf(language = 'en'): Script {
  const found = SCRIPTS.find(({ agent }) => agent.language === language)
  if (found !== undefined) return found
  const known = SCRIPTS.map(({ agent }) => agent.language).join(', ')
  throw new Error(`--language knows ${known}, not "${language}"`)
}

export const AGENT = english.agent
