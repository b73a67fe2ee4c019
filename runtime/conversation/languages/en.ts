import { type Language, overWords, phraseList, wordSet } from './language.ts'

export const english: Language = {
  code: 'en',
  name: 'English',
  writing: 'spaced',
  orders: {
    language: 'Always speak English.',
    sayAi: 'If you are asked whether you are a human, say that you are an AI.',
  },
  phrases: {
    sayAgain: "Sorry, I'm having a little trouble. Could you say that again?",
    didNotCatch: "Sorry, I didn't catch that. Could you say it again?",
    cannotHear: "I'm sorry, I can't hear you right now. Please stay on the line.",
    stillThere: 'Are you still there?',
    oneMoment: 'One moment, please.',
    stillHere: "I'm still working on that, just a moment longer.",
    bye: 'Goodbye.',
    goodbye: "I'm sorry, I'm having technical problems and have to end this call. Please try again later.",
    transferring: "One moment, I'm putting you through.",
    takeCall: 'Would you like to take the call? Say yes or press 1. To decline, say no or press 2.',
    transferFailed: "I'm sorry, I couldn't reach anyone there. Can I help you in some other way?",
    cannotSay: "I'm sorry, I can't say anything about that.",
    disclosure: "You're speaking with an AI assistant.",
    recordingNotice: "This call is being recorded for quality purposes. If you don't want that, please tell me now.",
    recordingConsent:
      'May I record this call so we can follow up on it? Please say yes or no, or press 1 for yes and 2 for no.',
    voicemail: "Hello, this is an AI assistant. We tried to reach you and we'll try again later. Goodbye.",
    abandoned:
      "Hello, this is an automated call from {{workspace}}. We tried to reach you, but nobody is free to talk just now. To reach us, or if you don't want to be called again, please call {{from_number}}. Goodbye.",
  },
  informal: { order: 'Always speak English, in a casual tone.', phrases: {} },
  regions: {
    GB: { order: 'Always speak British English.', informalOrder: 'Always speak British English, in a casual tone.' },
    US: { order: 'Always speak American English.', informalOrder: 'Always speak American English, in a casual tone.' },
  },
  openEndings: wordSet(`
    i_want we_want i_need we_need name_is number_is address_is table_for room_for appointment_for like_to want_to need_to going_to have_to
    a an the and or but because if while of from without into my your our their its um uh er erm i'm i'd i'll i've it's there's
    these those every until between whose than gonna wanna whether`),
  looseEndings: wordSet(`
    so when that which who to for with at in on by about his her is are was were be am can could should would will i we you they
    he she like as not very really just before after around`),
  holdOns: phraseList(
    "let me think, let me see, let me check, let's see, hold on, wait, one moment, one second, just a second, just a moment, hang on, you know, i mean, oh one more thing, no wait",
  ),
  asksOpenly: /^(?:\S+ )?(?:what|how|when|where|who|whose|which|why)\b|\b(?:tell me|describe|explain|have your)\b/u,
  dictation: {
    digits: wordSet('zero oh one two three four five six seven eight nine double triple'),
    asksNumber: /\b(?:number|code|pin|zip|postcode|digits|iban)\b/u,
    asksPhone: /\b(?:phone|telephone|mobile|cell)\b/u,
    phoneDigits: 10,
    asksSpelling: /\b(?:spell|spelled|spelt|spelling)\b/u,
  },
  backchannels: phraseList(`
    mm, mmm, mhm, mmhm, mm-hm, mm-hmm, mmhmm, mhmm, hm, hmm, hmmm, uh-huh, uhuh, uhhuh, ah, aha, oh, ooh, yeah, yep, yup, yes, ok,
    okay, right, sure, alright, all right, exactly, cool, great, nice, gotcha, wow, I see, got it, of course, perfect, good, really,
    true, absolutely, makes sense, that makes sense, fair enough, sounds good, interesting, definitely, indeed`),
  commonWords: wordSet(`
    the and of is are you i it that what how do does can would like have this with my your for we they when where please
    want need at not be was time there thank thanks yes hello could about open any speak english hi good morning i'm i'd`),
  consent: {
    yes: phraseList(`
      yes, yeah, yep, yup, okay, ok, of course, certainly, absolutely, definitely, go ahead, go for it, sounds good, that works,
      please do, you may, by all means, i consent, i agree, mm-hmm, mhm, uh-huh, all right, alright, that's fine, that is fine,
      it's fine, that's okay, that's ok, it's okay, it's ok, fine by me, fine with me, okay with me, okay by me, no problem,
      not a problem, no worries, no objection, no objections, i don't mind, i do not mind, don't mind, i have no objection,
      i have no objections, i've no objections, i don't have a problem with that, i have no problem with that, no go ahead,
      no that's fine, no i don't mind, sure thing, sure go ahead, sure that's fine, sure not a problem, sure no problem, yes sure,
      yeah sure, you can record this, you can record, you can record the call, you can record this call, you can record it,
      i'm okay with that, i'm ok with that, i'm fine with that, works for me, i give my consent, you have my consent, i accept`),
    alone: phraseList(
      'sure, fine, correct, sure please, oh sure, um sure, yeah fine, yes fine, yes please, yes correct, affirmative, agreed',
    ),
    rhetorical: phraseList('why not, sure why not, yeah why not, yes why not'),
    beside: phraseList(`
      please, thanks, thank you, sir, madam, ma'am, you can, you may, you can do that, i do, it is, that is, by me, with me, with that,
      that's fine, record it, record this, record this call, record the call, do it, do that, feel free, that`),
    lead: phraseList('um, uh, er, erm, oh, well, ah, hm, hmm'),
    no: phraseList('no, nope, nah, no thanks, no thank you, never, not really, negative'),
    refuses: overWords([
      /\b(?:rather|prefer) (?:that )?(?:you )?(?:not|didn t|don t|no)\b|\brather you (?:didn t|don t|did not)\b/,
      /\bi (?:object|decline|disagree|refuse)\b|\bi do(?:n t| not) (?:want|consent|agree|like|accept)\b/,
      /\b(?:don t|do not|please don t|stop) (?:you )?(?:record|recording|do that|do it|dare)\b/,
      /\bnot (?:okay|ok|fine|comfortable|happy|agree|recorded)\b|\bno recording\b|\bwithout (?:a )?recording\b|\babsolutely not\b|\bdefinitely not\b|\bcertainly not\b|\bof course not\b|\bplease don t\b|\bno way\b/,
    ]),
    unclear: overWords([
      /^(?:sorry|pardon|excuse me|come again|what|huh|say that again|say again|repeat that)(?: (?:sorry|please|what|me))?$/,
      /\b(?:didn t|did not|don t|do not|can t|cannot|couldn t) (?:\w+ )?(?:catch|hear|understand|get that|follow)\b/,
      /\bwhat (?:was|is) that\b|\bwhat did you (?:just )?say\b|\b(?:say|repeat) (?:that|it) again\b|\b(?:could|can) you repeat\b|\bi beg your pardon\b/,
    ]),
    one: phraseList('one, number one, press one, key one, 1, number 1'),
    two: phraseList('two, number two, press two, key two, 2, number 2'),
    abroad: {
      yes: phraseList('yes, yeah, yes please, of course, yes okay'),
      no: phraseList('nope, no thanks, no thank you'),
    },
  },
  answering: {
    tone: /(?:at|after|following|hear|wait for) (?:\w{1,30} )?the (?:\w{1,30} )?(?:tone|beep)/,
    machine: [
      /leave (?:\w{1,30} ){0,3}(?:message|name)(?! for (?:him|her|them))/,
      /(?:reached|welcome to) (?:\w{1,30} ){0,4}(?:voice ?mail|mailbox|answering)/,
      /voice ?mail (?:box|of|service)|record (?:your|a) (?:\w{1,30} )?message|forwarded to (?:\w{1,30} ){0,3}(?:voice|message|mailbox)/,
      /(?:can ?not|can t|unable to|not able to) (?:take|answer|come to|get to|pick up) (?:your call|the phone)/,
      /(?:number|person|subscriber|customer|party) (?:you (?:have |are |ve )?(?:called|dial?led|calling|trying to reach)) (?:\w{1,30} ){0,4}(?:not|un) ?available/,
      /(?:can|will) ?not be (?:reached|completed)|(?:number|phone) (?:\w{1,30} ){0,6}(?:not in service|been disconnected|switched off|not accepting calls)|(?:not in service|been disconnected)$/,
      /sorry i missed your call|you are calling outside|called outside (?:of )?(?:our|office|business|normal)/,
    ],
    full: [/(?:mailbox|voice ?mail|inbox) is (?:\w{1,30} )?full|can ?not accept (?:any )?(?:new |more )?messages/],
    hints: [
      /(?:is|s|am|m|are|re) (?:currently |just )?(?:not|un) ?(?:available|here|in|at my desk)|isn t (?:here|in|available)|out of (?:the )?office|away from/,
      /you (?:have |ve )?reached/,
      /(?:i|we) (?:ll|will) (?:\w{1,30} ){0,2}(?:call|get back|return)|as soon as (?:i|we) can|call me back|call back (?:later|during)/,
      /(?:office|store|shop|clinic|practice|branch) is (?:\w{1,30} )?closed|we are (?:currently |now |presently )closed/,
      /(?:our|opening|office|business) hours are/,
    ],
    speaksOfOthers: /\b(?:he|she) (?:is|s|isn t|will|ll|has|had)\b/,
    menu: [
      /press (?:\w{1,30} )?(?:\d|one|two|three|four|five|zero|star|pound|hash)/,
      /(?:menu|options) (?:have|has) changed|listen (?:carefully )?to the following|main menu/,
      /(?:call|calls) (?:is|are|may be|will be) (?:being )?(?:recorded|monitored)/,
      /(?:all|our) (?:\w{1,30} ){0,3}(?:agents|representatives|lines|operators) are (?:\w{1,30} )?busy|your call is important|you are (?:caller )?number|(?:stay|remain) on the line|please hold (?:while|for)/,
      /(?:say|enter) (?:or enter )?(?:your )?(?:yes or no|account|extension|date of birth)|if you know (?:your party s|the) extension/,
    ],
    screening: [
      /(?:state|say|record|tell me|give me|provide) (?:\w{1,30} ){0,4}your (?:full )?name/,
      /(?:reason|why) (?:\w{1,30} ){0,2}(?:for (?:your call|calling)|you (?:are|re) calling)/,
      /(?:call )?screening|before i (?:try to )?(?:connect|put you through)/,
      /using a (?:\w{1,30} ){0,3}assistant|see if (?:this person|they|he|she) (?:is|are) available/,
    ],
    offers:
      /(?:can|may|shall|should|could) i (?:\w{1,30} ){0,3}(?:take|give|pass) (?:\w{1,30} ){0,3}message|(?:would you|do you want to) (?:\w{1,30} ){0,3}leave (?:\w{1,30} )?message/,
    asks: /who (?:is|s) (?:this|calling|that|speaking)|who is it|who am i (?:speaking|talking)|who shall i say/,
    introduces: /\b(?:this is|my name is|it s|you ve reached|you have reached)\b/,
    company: [
      /(?:how|what) (?:can|may) (?:i|we) (?:help|do for) you/,
      /(?:you re |you are )?speaking (?:to|with) \w{1,30}|\w{1,30} speaking\b/,
    ],
  },
  doNotCall: [
    /\b(?:stop|quit) (?:calling|phoning|ringing) (?:me|us|here|this)\b|\b(?:don t|do not|never) (?:ever )?(?:call|phone|ring) (?:me |us |here |this number )?(?:again|anymore|any more|ever)\b/,
    /\b(?:take|remove) (?:me|us|my (?:phone )?number|this number|our number) (?:off|from)\b|\bdo not call list\b|\bno more (?:of these )?calls\b/,
  ],
  saysAi:
    /\b(?:ai|artificial intelligence|virtual (?:assistant|agent)|robot|(?:chat|voice) ?bot|automated (?:assistant|agent|call))\b/,
  abbreviations: [
    'Mr',
    'Mrs',
    'Ms',
    'Dr',
    'Prof',
    'St',
    'Sr',
    'Jr',
    'No',
    'vs',
    'etc',
    'e.g',
    'i.e',
    'approx',
    'Ave',
    'a.m',
    'p.m',
    'Rd',
    'Blvd',
    'Inc',
    'Ltd',
    'Co',
    'Mt',
    'Ft',
    'Dept',
    'ext',
    'est',
  ],
  dottedOrdinals: false,
}
