import { type Language, wordSet } from './language.ts'

export const spanish: Language = {
  code: 'es',
  name: 'Español',
  instruction: 'Responde siempre en español.',
  phrases: {
    sayAgain: 'Perdone, ha habido un problema. ¿Puede repetirlo, por favor?',
    didNotCatch: 'Perdone, no le he entendido. ¿Puede repetirlo, por favor?',
    cannotHear: 'Perdone, ahora mismo no le oigo. Un momento, por favor.',
    stillThere: '¿Sigue ahí?',
    oneMoment: 'Un momento, por favor.',
    stillHere: 'Sigo con ello, un momento más.',
    bye: 'Adiós.',
    goodbye:
      'Lo siento, tengo un problema técnico y debo terminar la llamada. Inténtelo de nuevo más tarde, por favor.',
    transferring: 'Un momento, le paso la llamada.',
    takeCall: '¿Quiere aceptar la llamada? Diga sí o pulse 1. Para rechazarla, diga no o pulse 2.',
    transferFailed: 'Lo siento, no he podido localizar a nadie. ¿En qué más puedo ayudarle?',
    takenOver: 'Ahora le atiende un compañero.',
    givenBack: 'Vuelvo a estar con usted. ¿En qué puedo ayudarle?',
  },
  openEndings: wordSet(`
    el la los las un una unos unas mi mis tu tus su sus nuestro nuestra y e o u pero porque que si cuando mientras aunque de
    del a al en con sin por para sobre entre hasta desde hacia según es son era muy más tan como lo le les me te se nos yo
    eh em este pues o sea`),
  backchannels: wordSet(`
    mm mmm mhm mm-hm hm hmm ah ajá aja oh sí si ok okay vale claro bien bueno ya exacto perfecto entiendo genial correcto
    dale eso cierto eh`),
  commonWords: wordSet(`
    el la los las de que y en es son un una para con por no sí qué cómo cuándo dónde cuánto está están tiene tienen puedo quiero
    gracias hola buenos buenas días me mi su usted pero más del al hay hasta abren cuesta favor español`),
  consent: {
    yes: /\b(?:si|claro|vale|de acuerdo|por supuesto|adelante|bueno|esta bien|ok|okay|desde luego|como no|acepto)\b/,
    no: /\b(?:no|nunca|prefiero que no|tampoco|jamas)\b/,
    yesDespiteNo:
      /\bcomo no\b|\bno (?:hay|es) (?:ningun )?problema\b|\bno me importa\b|\bpor que no\b|\bsin problema\b/,
  },
  answering: {
    machine: [
      /(?:dej[ea]|dejar|deja[nr]os) (?:\w{1,30} ){0,3}mensaje(?! para (?:el|ella))/,
      /despues (?:de|del) (?:la senal|oir la senal|el tono|tono|el pitido|pitido)/,
      /buzon de voz|contestador/,
      /(?:numero|telefono|persona|abonado|cliente) (?:\w{1,30} ){0,8}(?:no (?:esta|se encuentra) disponible|apagado|fuera de cobertura)/,
    ],
    full: [/buzon (?:\w{1,30} ){0,3}lleno|no (?:puede|admite) (?:\w{1,30} ){0,2}mas mensajes/],
    hints: [
      /no (?:esta|se encuentra|estoy|estamos) (?:\w{1,30} )?(?:disponible|en casa|en la oficina|aqui)?|no puedo (?:atender|contestar|responder)|ha salido/,
      /ha llamado (?:a|al)|ha contactado/,
      /(?:te|le|os) (?:devolvere|llamare|llamaremos|devolveremos)|lo antes posible|en cuanto pueda/,
    ],
    menu: [
      /(?:pulse|marque|presione|oprima) (?:\w{1,30} ){0,3}(?:\d|uno|dos|tres|cuatro|cero|almohadilla|asterisco)/,
      /menu principal|siguientes opciones/,
      /llamada (?:\w{1,30} ){0,4}grabada/,
      /(?:agentes|operadores|lineas) (?:\w{1,30} ){0,4}ocupad[oa]s|manteng\w{1,30} (?:\w{1,30} ){0,3}(?:a la espera|en linea)|no cuelgue|permanezca/,
    ],
    screening: [/diga su nombre|motivo de (?:la|su) llamada/],
    offers: /(?:quiere|desea|puedo|le gustaria) (?:\w{1,30} ){0,5}(?:mensaje|recado)/,
    asks: /quien (?:llama|habla|es)\b|de parte de quien|con quien hablo/,
    introduces: /\b(?:soy|le habla|habla)\b/,
    company: [/en que (?:le |te |les )?(?:puedo|podemos) (?:ayudar|servir|atender)/, /le (?:atiende|habla) \w{1,30}/],
  },
  abbreviations: [
    'Sr',
    'Sra',
    'Srta',
    'Dr',
    'Dra',
    'Ud',
    'Uds',
    'Vd',
    'p. ej',
    'p.ej',
    'núm',
    'tel',
    'etc',
    'Av',
    'aprox',
  ],
  keys: ['cero', 'uno', 'dos', 'tres', 'cuatro', 'cinco', 'seis', 'siete', 'ocho', 'nueve'],
}
