/** What a session says over its WebSocket: docs/realtime.md, and /asyncapi.json of each installation. */

export type AgentState = 'listening' | 'thinking' | 'speaking'

export type ServerMessage =
  | {
      type: 'session.started'
      call_log_id: string
      audio: { encoding: 'pcm_s16le' | 'opus'; sample_rate: number }
      media?: 'websocket' | 'webrtc'
      resume_token?: string
      resume_within_s?: number
      protocol: 1
    }
  | { type: 'session.resumed'; resume_token: string }
  | { type: 'session.moved'; url: string }
  | { type: 'webrtc.offer'; sdp: string }
  | { type: 'agent.state'; state: AgentState }
  | {
      type: 'transcript'
      role: 'user' | 'assistant'
      text: string
      final: boolean
      start_ms: number
      end_ms: number
    }
  | { type: 'audio.clear' }
  | { type: 'audio.mark'; id: number }
  | { type: 'error'; code: string; message: string }
  | { type: 'tool.call'; call_id: string; name: string; arguments: Record<string, unknown> }
  | { type: 'pong' }
  | { type: 'session.ended'; reason: string }

export type ClientMessage =
  | { type: 'text'; text: string }
  | { type: 'dtmf'; digit: string }
  | { type: 'webrtc.answer'; sdp: string; says_connected?: boolean }
  | { type: 'webrtc.connected' }
  | { type: 'webrtc.restart' }
  | { type: 'audio.played'; id: number }
  | { type: 'tool.result'; call_id: string; result?: unknown; error?: string }
  | { type: 'ping' }
  | { type: 'end' }
