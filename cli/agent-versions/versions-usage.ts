/** What is known of `patchbay publish` and `patchbay rollout` before their code is loaded. */

export const VERSIONS_COMMANDS = ['publish', 'rollout'] as const
export type VersionsCommand = (typeof VERSIONS_COMMANDS)[number]

export const VERSIONS_USAGE: Readonly<Record<VersionsCommand, string>> = {
  publish: `Usage: patchbay publish AGENT [--note=TEXT] [--require-tests=TAG]

  Makes the draft of an agent, by name or id, the version that calls get. PATCHBAY_URL (default
  http://localhost:8080) and PATCHBAY_API_KEY (scopes read and agents) name the instance.
  Exit code 0: published; 1: its tests did not pass; 2: it could not be published.

  --note           what changed, for the history
  --require-tests  runs the agent's stored tests with this tag first, for five minutes at most
`,
  rollout: `Usage: patchbay rollout AGENT
       patchbay rollout AGENT --split=VERSION=PERCENT,… [--guard=FIGURE|none] [--min-calls=N]
                              [--planned-calls=N] [--sticky=contact|call]
       patchbay rollout AGENT --end

  Shows the rollout of an agent, by name or id, sets its split, or ends it. What is not given stays,
  rules included; what is compared begins anew. PATCHBAY_URL (default http://localhost:8080) and
  PATCHBAY_API_KEY (scopes read and agents) name the instance.
  Exit code 0: done; 1: the guard has stopped it; 2: it could not be done.

  --split          such as 1=80,2=20
  --guard          success, disposition:NAME, faults, latency_p95 or cost: stops a version that is worse
  --min-calls      of each version, before which nothing is decided; --planned-calls: of both versions
  --sticky         contact: the same contact gets the same version again
`,
}
