import { type Language, wordSet } from './language.ts'

export const english: Language = {
  code: 'en',
  name: 'English',
  instruction: 'Always speak English.',
  phrases: {
    sayAgain: "Sorry, I'm having a little trouble. Could you say that again?",
    didNotCatch: "Sorry, I didn't catch that. Could you say it again?",
    cannotHear: "I'm sorry, I can't hear you at the moment. One moment, please.",
    stillThere: 'Are you still there?',
    oneMoment: 'One moment, please.',
    stillHere: 'I am still on it, one more moment.',
    bye: 'Goodbye.',
    goodbye: "I'm sorry, I'm having technical trouble and have to end the call. Please try again later.",
    transferring: "One moment, I'm putting you through.",
    takeCall: 'Would you like to take the call? Say yes or press 1. To refuse it, say no or press 2.',
    transferFailed: "I'm sorry, nobody could be reached there. How else can I help you?",
    takenOver: 'A colleague is taking over now.',
    givenBack: "I'm back with you. How can I help you?",
  },
  openEndings: wordSet(`
    a an the and or but so because if when while that which who to of for from with without at in on by about into
    my your his her our their its is are was were be am can could should would will i we you they he she um uh er
    like than as not very really just`),
  backchannels: wordSet(`
    mm mmm mhm mmhm mm-hm mm-hmm mmhmm mhmm hm hmm hmmm uh-huh uhuh uh huh uhhuh ah aha oh ooh yeah yep yup yes ok okay
    right sure alright exactly cool great nice gotcha wow er erm um uhm`),
  commonWords: wordSet(`
    the and of is are you i it that what how do does can would like have this with my your for we they when where please
    want need at not be was time there thank thanks yes hello could about open any speak english`),
  consent: {
    yes: /\b(?:yes|yeah|yep|yup|sure|okay|ok|of course|fine|certainly|absolutely|agree|go ahead|all right|alright)\b/,
    no: /\b(?:no|nope|not|don t|do not|rather you didn t|refuse|never)\b/,
    yesDespiteNo: /\b(?:no|not a) problem\b|\bdon t mind\b|\bwhy not\b|\bno objections?\b|\bno worries\b/,
  },
  answering: {
    machine: [
      /leave (?:\w{1,30} ){0,3}(?:message|name)(?! for (?:him|her|them))/,
      /(?:at|after) the (?:\w{1,30} )?(?:tone|beep)/,
      /(?:reached|welcome to) (?:\w{1,30} ){0,4}(?:voice ?mail|mailbox|answering)/,
      /voice ?mail (?:box|of|service)|record your message|forwarded to (?:\w{1,30} ){0,3}(?:voice|message|mailbox)/,
      /(?:can ?not|can t|unable to) (?:take|answer|come to) (?:your call|the phone)/,
      /(?:number|person|subscriber|customer|party) (?:you (?:have |are |ve )?(?:called|dialed|calling|trying to reach)) (?:\w{1,30} ){0,4}(?:not|un) ?available/,
      /(?:can|will) not be (?:reached|completed)/,
    ],
    full: [/(?:mailbox|voice ?mail|inbox) is (?:\w{1,30} )?full|can ?not accept (?:any )?(?:new |more )?messages/],
    hints: [
      /(?:is|s|am|m|are|re) (?:currently |just )?(?:not|un) ?(?:available|here|in|at my desk)|isn t (?:here|in|available)|out of (?:the )?office|away from/,
      /you (?:have |ve )?reached/,
      /(?:i|we) (?:ll|will) (?:\w{1,30} ){0,2}(?:call|get back|return)|as soon as (?:i|we) can|call me back|call back (?:later|during)/,
    ],
    menu: [
      /press (?:\w{1,30} )?(?:\d|one|two|three|four|five|zero|star|pound)/,
      /(?:menu|options) (?:have|has) changed|listen (?:carefully )?to the following|main menu/,
      /(?:call|calls) (?:is|are|may be|will be) (?:being )?(?:recorded|monitored)/,
      /(?:all|our) (?:\w{1,30} ){0,3}(?:agents|representatives|lines|operators) are (?:\w{1,30} )?busy|your call is important|you are (?:caller )?number|(?:stay|remain|hold) on the line|please hold (?:while|for)/,
      /(?:say|enter) (?:or enter )?(?:your )?(?:yes or no|account|extension|date of birth)|if you know (?:your party s|the) extension/,
    ],
    screening: [
      /(?:state|say|record|tell me) (?:\w{1,30} ){0,4}your name/,
      /(?:reason|why) (?:\w{1,30} ){0,2}(?:for (?:your call|calling)|you (?:are|re) calling)/,
      /(?:call )?screening|before i (?:try to )?(?:connect|put you through)/,
      /using a (?:\w{1,30} ){0,3}assistant/,
    ],
    offers: /(?:would you|do you want|can i|shall i|could you) (?:\w{1,30} ){0,5}(?:message|name)/,
    asks: /who (?:is|s) (?:this|calling|that|speaking)|who is it|who am i (?:speaking|talking)/,
    introduces: /\b(?:this is|my name is|it s|you ve reached|you have reached)\b/,
    company: [
      /(?:how|what) (?:can|may) (?:i|we) (?:help|do for) you/,
      /(?:you re |you are )?speaking (?:to|with) \w{1,30}|\w{1,30} speaking\b/,
    ],
  },
  abbreviations: ['Mr', 'Mrs', 'Ms', 'Dr', 'Prof', 'St', 'Sr', 'Jr', 'No', 'vs', 'etc', 'e.g', 'i.e', 'approx', 'Ave'],
  keys: ['zero', 'one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine'],
}
