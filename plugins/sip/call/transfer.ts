import type { Referral } from '../dialog/session.ts'
import type { LegControl, RtpLeg } from '../media/rtp-leg.ts'
import type { ActiveTrunk } from '../trunk/trunk-table.ts'

/** A call that is to be led to another number. */
export interface Transferred {
  callId: string
  /** Of whom is led there. */
  leg: RtpLeg
  /** Our number in the call: who the other one sees calling. */
  from: string
  to: string
  active: ActiveTrunk
}

/** Leads a call there by calling ourselves (bridge.ts). Resolves with true once it rings there. */
export type Bridge = (call: Transferred) => Promise<boolean>

/** What a call's transfer needs. */
export interface TransferOptions extends Omit<Transferred, 'leg' | 'to'> {
  leg(): RtpLeg
  /** Host and port that the number is at. */
  at: string
  /** Asks the other side to call the target itself. */
  refer(target: string): Promise<Referral>
  /** Absent: this call can only be led on by the other side. */
  bridge: Bridge | undefined
}

/** Leads a call to another number: by REFER, or where the other side takes none, by calling that number. */
export function transferBy({ leg, at, refer, bridge, ...call }: TransferOptions): LegControl['transfer'] {
  return async (number) => {
    const referral = await refer(`sip:${number}@${at}`)
    if (referral !== 'refused') return referral
    if (bridge === undefined) return 'failed'
    return (await bridge({ ...call, leg: leg(), to: number })) ? 'ringing' : 'failed'
  }
}
