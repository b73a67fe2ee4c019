/** What one process of the benchmark does. */
export type PluginRun =
  | { kind: 'latency'; isolation: 'none' | 'process'; sessions: number; seconds: number }
  | { kind: 'cpu'; isolation: 'none' | 'process'; sessions: number; seconds: number }
  /** What another plugin does meanwhile, in a process of its own. */
  | { kind: 'cadence'; hostile: 'loop' | 'leak' | 'flood' | 'messages' | undefined; sessions: number; seconds: number }

export type PluginRunResult =
  /** From a piece of audio to its event; from a sentence to its first sound. */
  | { kind: 'latency'; hearMs: number[]; speakMs: number[] }
  /** Of one core, for each session, the plugin's process included. */
  | { kind: 'cpu'; coreShare: number }
  /** How far from 20 ms apart packets came; how often the hostile plugin's process was ended. */
  | { kind: 'cadence'; cadenceMs: number[]; ended: number }
