import { definePlugin } from '../../runtime/plugin/contract.ts'
import { makeCarrier } from './carrier.ts'

export default definePlugin({ telephony: makeCarrier })
