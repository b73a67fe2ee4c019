import { type Language, overWords, phraseList, wordSet } from './language.ts'

export const spanish: Language = {
  code: 'es',
  name: 'Español',
  writing: 'spaced',
  orders: {
    language: 'Responde siempre en español y trata de usted al interlocutor, salvo que se indique otra cosa.',
    sayAi: 'Si te preguntan si eres una persona, di que eres una inteligencia artificial.',
  },
  phrases: {
    sayAgain: 'Perdone, he tenido un problema. ¿Me lo puede repetir, por favor?',
    didNotCatch: 'Perdone, no le he entendido. ¿Me lo puede repetir, por favor?',
    cannotHear: 'Perdone, ahora mismo no le oigo. No cuelgue, por favor.',
    stillThere: '¿Sigue ahí?',
    oneMoment: 'Un momento, por favor.',
    stillHere: 'Enseguida estoy con usted, solo un momento más.',
    bye: 'Hasta luego, que tenga un buen día.',
    goodbye:
      'Lo siento, tengo un problema técnico y debo terminar la llamada. Inténtelo de nuevo más tarde, por favor.',
    transferring: 'Un momento, le paso con una persona de nuestro equipo.',
    takeCall: '¿Quiere atender la llamada? Diga sí o pulse 1. Para rechazarla, diga no o pulse 2.',
    transferFailed: 'Lo siento, no he podido localizar a nadie. ¿Puedo ayudarle en otra cosa?',
    almostOver: 'Se nos acaba el tiempo: la llamada terminará en unos segundos.',
    cannotSay: 'Lo siento, sobre eso no puedo decir nada.',
    disclosure: 'Le atiende un asistente de inteligencia artificial.',
    recordingNotice:
      'Le informamos de que esta llamada se graba para mejorar nuestro servicio. Si no lo desea, dígamelo, por favor.',
    recordingConsent: '¿Me permite grabar esta llamada? Diga sí o no, o marque 1 para sí y 2 para no.',
    voicemail:
      'Hola, le llama un asistente de inteligencia artificial. Queríamos hablar con usted y lo intentaremos más tarde. Hasta luego.',
    abandoned:
      'Hola, esta es una llamada automática de {{workspace}}. Queríamos hablar con usted, pero ahora mismo no hay nadie disponible. Para contactarnos o no recibir más llamadas, llame al {{from_number}}. Hasta luego.',
  },
  informal: {
    order: 'Responde siempre en español y tutea al interlocutor.',
    phrases: {
      sayAgain: 'Perdona, he tenido un problema. ¿Me lo puedes repetir, por favor?',
      didNotCatch: 'Perdona, no te he entendido. ¿Me lo puedes repetir, por favor?',
      cannotHear: 'Perdona, ahora mismo no te oigo. No cuelgues, por favor.',
      stillThere: '¿Sigues ahí?',
      stillHere: 'Enseguida estoy contigo, solo un momento más.',
      bye: 'Hasta luego, que tengas un buen día.',
      goodbye: 'Lo siento, tengo un problema técnico y debo terminar la llamada. Inténtalo más tarde, por favor.',
      transferring: 'Un momento, te paso con una persona de nuestro equipo.',
      takeCall: '¿Quieres atender la llamada? Di sí o pulsa 1. Para rechazarla, di no o pulsa 2.',
      transferFailed: 'Lo siento, no he podido localizar a nadie. ¿Puedo ayudarte en otra cosa?',
      disclosure: 'Te atiende un asistente de inteligencia artificial.',
    },
  },
  regions: {
    ES: {
      order: 'Responde siempre en español de España y trata de usted al interlocutor, salvo que se indique otra cosa.',
      informalOrder: 'Responde siempre en español de España y tutea al interlocutor.',
    },
    '419': {
      order:
        'Responde siempre en español de Latinoamérica y trata de usted al interlocutor, salvo que se indique otra cosa.',
      informalOrder: 'Responde siempre en español de Latinoamérica y tutea al interlocutor.',
      phrases: {
        sayAgain: 'Disculpe, tuve un problema. ¿Me lo puede repetir, por favor?',
        didNotCatch: 'Disculpe, no le entendí. ¿Me lo puede repetir, por favor?',
        cannotHear: 'Disculpe, en este momento no le escucho. No cuelgue, por favor.',
        transferring: 'Un momento, le comunico con una persona de nuestro equipo.',
        takeCall: '¿Desea tomar la llamada? Diga sí o marque 1. Para rechazarla, diga no o marque 2.',
        transferFailed: 'Lo siento, no pude localizar a nadie. ¿Puedo ayudarle en algo más?',
      },
      informal: {
        sayAgain: 'Disculpa, tuve un problema. ¿Me lo puedes repetir, por favor?',
        didNotCatch: 'Disculpa, no te entendí. ¿Me lo puedes repetir, por favor?',
        cannotHear: 'Disculpa, en este momento no te escucho. No cuelgues, por favor.',
        transferring: 'Un momento, te comunico con una persona de nuestro equipo.',
        takeCall: '¿Quieres tomar la llamada? Di sí o marca 1. Para rechazarla, di no o marca 2.',
        transferFailed: 'Lo siento, no pude localizar a nadie. ¿Puedo ayudarte en algo más?',
      },
    },
  },
  openEndings: wordSet(`
    nombre_es número_es apellido_es llamo_por
    el los las unos unas mi mis tu tus su sus nuestro nuestra nuestros y e u porque si mientras aunque de del a al en con sin para
    entre desde hacia según tan eh em sino cada quiero quisiera necesito`),
  looseEndings: wordSet(`
    la un una o pero que cuando por sobre hasta es son muy más como lo le les me te se nos yo era este esta esa ese esos pues tengo
    hay está sea somos`),
  holdOns: phraseList('a ver, déjeme pensar, déjeme ver, espere, un momento, un segundo, espera, o sea, no espere'),
  asksOpenly:
    /^(?:\S+ )?(?:que|cual|cuales|como|cuando|donde|adonde|quien|quienes|cuanto|cuanta|cuantos|cuantas)\b|\b(?:digame|dime|decirme|describir|explicar)\b/u,
  dictation: {
    digits: wordSet('cero un uno dos tres cuatro cinco seis siete ocho nueve doble'),
    asksNumber: /\b(?:numero|codigo|clave|pin|digitos|iban)\b/u,
    asksPhone: /\b(?:telefono|movil|celular)\b/u,
    phoneDigits: 9,
    asksSpelling: /\b(?:deletrea|deletrear|deletree|deletrearlo|escribe)\b/u,
  },
  backchannels: phraseList(`
    mm, mmm, mhm, mm-hm, mjm, hm, hmm, ah, ajá, aja, oh, sí, si, ok, okay, okey, vale, claro, bien, exacto, perfecto, entiendo, genial,
    correcto, dale, eso, cierto, de acuerdo, claro que sí, muy bien, así es, eso es, ya veo, entendido, venga, órale, ándale, sale, listo, po`),
  commonWords: wordSet(`
    el los las que y es son un una para con por sí qué cómo cuándo dónde cuánto está están tiene tienen puedo quiero
    gracias hola buenos buenas días me mi su usted pero más del al hay hasta abren cuesta favor español quisiera necesito llamo
    puede dígame`),
  consent: {
    yes: phraseList(`
      sí, claro, claro que sí, vale, de acuerdo, por supuesto, adelante, está bien, ok, okay, okey, desde luego, cómo no, como no,
      acepto, sí acepto, perfecto, correcto, dale, venga, así es, autorizo, lo autorizo, conforme, listo, órale, ándale, sale,
      ningún problema, no hay problema, no hay ningún problema, no es problema, no es ningún problema, no me importa, sin problema,
      sin problemas, sin ningún problema, no pasa nada, no hay inconveniente, no hay ningún inconveniente, no tengo inconveniente,
      ningún inconveniente, sin inconveniente, doy mi consentimiento, consiento, puede grabar, puede grabarla, pueden grabar,
      puede hacerlo, me parece bien, por mí está bien, por mí no hay problema, por mí sí, estoy de acuerdo, lo acepto`),
    alone: phraseList(
      'si, bueno, bueno sí, muy bien, bien, si claro, si por supuesto, si acepto, si adelante, si gracias',
    ),
    rhetorical: phraseList('por qué no, porque no, y por qué no, sí por qué no, claro por qué no'),
    beside: phraseList(`
      por favor, gracias, muchas gracias, puede, puede grabar, puede grabarla, señor, señora, señorita, adelante, hágalo, grabe,
      grábela, con eso, estoy de acuerdo, por mí, no se preocupe, desde luego que sí, que sí, sin problema, la llamada, grabar la llamada`),
    lead: phraseList('eh, em, este, pues, bueno, ah, ay, mm, hm, a ver, oh'),
    no: phraseList(
      'no, nunca, jamás, para nada, ni hablar, de ninguna manera, qué va, prefiero que no, tampoco, mejor no',
    ),
    refuses: overWords([
      /\b(?:prefiero|preferiría) (?:que )?no\b|\bmejor no\b|\bpara nada\b|\bni hablar\b|\bde ninguna manera\b|\bde ningún modo\b|\bqué va\b/,
      /\bno (?:quiero|deseo|autorizo|acepto|estoy de acuerdo|me parece|me grabe|grabe|grabar|doy mi|doy el|consiento|lo autorizo|permito)\b/,
      /\bsin grabar\b|\bno gracias\b|\bme niego\b|\bme opongo\b|^(?:eh )?claro que no\b|^por supuesto que no\b|^desde luego que no\b|^sí no\b/,
    ]),
    unclear: overWords([
      /^(?:cómo|cómo dice|perdón|perdone|disculpe|qué|mande|qué dice|cómo perdón|perdón qué)$/,
      /\bno (?:le |lo |la |te |se )?(?:oigo|oí|oi|entiendo|entendí|he entendido|escucho|escuché|he oído|oye|escucha|entiende)\b/,
      /\bcómo ha dicho\b|\bqué ha dicho\b|\b(?:puede|podría|puedes) repetir\w*\b|\bme (?:lo )?repite\b|\brepita\b/,
    ]),
    one: phraseList('uno, el uno, número uno, 1, el 1'),
    two: phraseList('dos, el dos, número dos, 2, el 2'),
    abroad: {
      yes: phraseList('sí, sí claro, sí gracias, claro que sí, por supuesto'),
      no: phraseList('no gracias, claro que no, para nada'),
    },
  },
  answering: {
    tone: /(?:despues (?:de|del)|tras|al oir|escuche|al escuchar) (?:\w{1,30} )?(?:la senal|el tono|tono|el pitido|pitido|el bip|senal)/,
    machine: [
      /(?<!que le |que les |si )(?:dej[ea]|dejar|deja[nr]os|dejeme|dejame|dejenos|dejanos|dejen) (?:\w{1,30} ){0,3}(?:mensaje|recado)(?! para (?:el|ella))/,
      /buzon|(?<!tenemos |tengo |hay )contestador|correo de voz|grabar (?:\w{1,30} )?mensaje|casilla de (?:mensajes|voz)|grabe (?:\w{1,30} )?mensaje/,
      /(?:numero|telefono|persona|abonado|cliente) (?:\w{1,30} ){0,8}(?:no (?:esta|se encuentra) disponible|apagado|fuera (?:de cobertura|del area)|no existe|no corresponde)/,
      /fuera del (?:area de servicio|horario de atencion)|no existe o|no corresponde a ningun/,
      /no se encuentra disponible en este momento|(?:ha llamado|llama|esta llamando) fuera de(?:l| nuestro) horario/,
    ],
    full: [/buzon (?:\w{1,30} ){0,3}lleno|no (?:puede|admite) (?:\w{1,30} ){0,2}mas mensajes/],
    hints: [
      /no (?:esta|se encuentra|estoy|estamos) (?:\w{1,30} )?(?:disponible|en casa|en la oficina|aqui)?|no puedo (?:atender|contestar|responder)\w{0,4}|ha salido/,
      /ha llamado (?:a|al)|ha contactado|se ha comunicado con/,
      /(?:te|le|os) (?:devolvere|llamare|llamaremos|devolveremos)|lo antes posible|en cuanto pueda/,
      /(?:oficina|oficinas|tienda|consulta|clinica) (?:\w{1,30} ){0,3}cerrad[ao]s?/,
      /nuestro horario (?:\w{1,30} ){0,2}es/,
      /\bdej\w{1,5} (?:\w{1,30} )?nombre/,
    ],
    speaksOfOthers:
      /\b(?:el|ella|(?:el senor|la senora) \w{1,30}) no esta\b|^(?:\w{1,30} ){0,3}no esta\b|\bha salido\b|\bno se encuentra (?:en|ahora|hoy)\b|\besta (?:ausente|reunid[ao]|de vacaciones)\b/,
    menu: [
      /(?:pulse|marque|presione|oprima) (?:\w{1,30} ){0,3}(?:\d|uno|dos|tres|cuatro|cero|almohadilla|asterisco)/,
      /menu principal|siguientes opciones/,
      /llamada (?:\w{1,30} ){0,4}grabada/,
      /(?:agentes|operadores|lineas) (?:\w{1,30} ){0,4}ocupad[oa]s|manteng\w{1,30} (?:\w{1,30} ){0,3}(?:a la espera|en linea)|permanezca/,
    ],
    screening: [
      /(?:diga|di|indique|indica|grabe|dime|digame) (?:\w{1,30} ){0,3}(?:su|tu) nombre|tu nombre y el motivo/,
      /(?:motivo|razon) de (?:la|su|tu) llamada|por que (?:llama|esta llamando)/,
      /quien lo busca|quien le busca|filtr\w{1,10} de llamadas|no (?:es|eres) un robot/,
    ],
    offers:
      /(?<!si (?:\w{1,30} ){0,3})(?:(?:le|te) (?:doy|dejo|tomo|deje|paso) (?:\w{1,30} ){0,3}(?:recado|mensaje)|(?:quiere|quieres|desea) (?:\w{1,30} ){0,2}(?:dejarle|dejar) (?:\w{1,30} )?(?:recado|mensaje)|puedo (?:\w{1,30} ){0,2}(?:tomar|dar)(?:le)? (?:\w{1,30} ){0,2}(?:recado|mensaje))/,
    asks: /quien (?:llama|habla|es)\b|de parte de quien|con quien hablo/,
    introduces: /\b(?:soy|le habla|habla)\b/,
    company: [/en que (?:le |te |les )?(?:puedo|podemos) (?:ayudar|servir|atender)/, /le (?:atiende|habla) \w{1,30}/],
  },
  doNotCall: [
    /\bno (?:me|nos) (?:llam[ea]\w{0,2}|vuelv\w{1,3} a llamar|marque\w?) (?:mas|nunca|otra vez|de nuevo)\b|\bno (?:me|nos) vuelv\w{1,3} a llamar\b|\bdeje\w? de llamar\w{0,3}\b/,
    /\b(?:borr|elimin|quit|sac)\w{1,5} (?:\w{1,30} ){0,3}(?:mi numero|lista|base de datos)\b|\blista robinson\b|\bno quiero (?:recibir )?mas llamadas\b/,
  ],
  saysAi: /\b(?:ia|inteligencia artificial|asistente virtual|agente virtual|robot|llamada automatica)\b/,
  reading: {
    marks: { at: 'arroba', dot: 'punto', slash: 'barra', dash: 'guion', underscore: 'guion bajo', plus: 'más' },
    dollars: { one: 'dólar', other: 'dólares' },
    pounds: { one: 'libra', other: 'libras' },
    money: '{whole} con {hundredths}',
    clock: { full: '', minutes: '' },
    inFull: {
      'Sr.': 'señor',
      'Sra.': 'señora',
      'Srta.': 'señorita',
      'Dr.': 'doctor',
      'Dra.': 'doctora',
      'Ud.': 'usted',
      'Uds.': 'ustedes',
      'p. ej.': 'por ejemplo',
      'p.ej.': 'por ejemplo',
      'núm.': 'número',
      'tel.': 'teléfono',
      'Avda.': 'avenida',
      'Av.': 'avenida',
      'aprox.': 'aproximadamente',
      'Pza.': 'plaza',
    },
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
    'EE',
    'a. m',
    'p. m',
    'a.m',
    'p.m',
    'D',
    'Dña',
    'S.L',
    'S.A',
    'Avda',
    'Pza',
    'Lic',
    'Ing',
  ],
  dottedOrdinals: false,
}
