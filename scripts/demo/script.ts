/** What the demo's agent knows and what its caller asks. Every question is one the built-in recogniser understands. */
export const AGENT = {
  agent_name: 'Harbour Bistro',
  first_message: 'Welcome to the Harbour Bistro. How can I help you?',
  system_prompt: `You are Ava, the host of the Harbour Bistro. Always be brief and friendly.
On Saturdays we open at ten in the morning.
Our company is a family business that has cooked fish on this pier since nineteen eighty, and we buy everything from the boats you see outside.
Delivery costs three euros anywhere in town.
We are closed on Sundays.`,
}

export interface Question {
  text: string
  /** Words of the right answer, in any case. */
  expects: string
  /** Said while the agent still answers the question before. */
  bargesIn?: true
}

export const QUESTIONS: readonly Question[] = [
  { text: 'What time do you open on Saturday?', expects: 'ten in the morning' },
  { text: 'Tell me more about your company.', expects: 'family business' },
  { text: 'How much does delivery cost?', expects: 'three euros', bargesIn: true },
]
