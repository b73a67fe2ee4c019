/** What is known of the commands before their code is loaded. */

export const FILES_COMMANDS = ['pull', 'plan', 'apply'] as const
export type FilesCommand = (typeof FILES_COMMANDS)[number]

export const FILES_USAGE = `Usage: patchbay pull [folder] [--replace]   writes the agents and campaigns of an instance as files
       patchbay plan [folder]               prints what the files and the instance differ in; exit code 2: something
       patchbay apply [folder] [--delete] [--secrets] [--publish=note]
                                            brings the instance to what the files say

  PATCHBAY_URL and PATCHBAY_API_KEY name the instance. --replace: the instance's fields hold where both changed.
  --delete: agents and campaigns whose files are gone are deleted. --secrets: sends every \${NAME} anew.
  --publish: publishes a version of changed agents whose \`publishing\` is manual.
`
