import { api } from '../data/api.ts'
import type { Agent, AgentInput } from '../data/types.ts'

const SAMPLE: AgentInput = {
  agent_name: 'Front desk',
  system_prompt: `You answer the phone of the Hotel Aurora.
Breakfast is served from seven to ten in the garden room.
Check-in is from three in the afternoon, check-out is at eleven.
A double room is 120 euros a night, a single room 80 euros.
Parking is free and in front of the house: you can park there as long as you stay. Wifi is free in all rooms.
Dogs are welcome and cost ten euros a night.
The front desk is open day and night, on Saturday and Sunday too. We are located at 12 Harbour Street.
The restaurant has vegetarian dishes; you can book a table for any evening.
As payment methods we accept cash and all cards.`,
  first_message: 'Hotel Aurora, hello! How can I help you?',
}

/** An agent that answers with what the defaults of the installation offer. */
export function makeSampleAgent(): Promise<Agent> {
  return api<Agent>('/agents', { method: 'POST', body: SAMPLE })
}
