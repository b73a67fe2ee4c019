import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { chunk } from '../../runtime/knowledge/chunking.ts'
import { markdownBlocks } from '../../workers/documents/extract/text.ts'

/**
 * Documents of six businesses and questions people ask them, each with the document that answers it. Half of the questions use
 * the document's words, half their own. `corpus/<business>.md` holds documents after a line `=== name`.
 */
export interface Corpus {
  documents: { name: string; chunks: string[] }[]
  questions: { text: string; answeredBy: ReadonlySet<string> }[]
}

const FOLDER = join(import.meta.dirname, 'corpus')

export async function readCorpus(): Promise<Corpus> {
  const files = (await readdir(FOLDER)).filter((name) => name.endsWith('.md')).sort()
  const texts = await Promise.all(files.map((name) => readFile(join(FOLDER, name), 'utf8')))
  const documents = texts.flatMap((text) =>
    text
      .split(/^=== /m)
      .slice(1)
      .map((document) => {
        const end = document.indexOf('\n')
        return { name: document.slice(0, end).trim(), chunks: [...chunk(markdownBlocks(document.slice(end + 1)))] }
      }),
  )
  const names = new Set(documents.map(({ name }) => name))
  const lines = (await readFile(join(FOLDER, 'questions.tsv'), 'utf8')).trim().split('\n')
  const questions = lines.map((line) => {
    const [text = '', ...answers] = line.split('\t')
    const stray = answers.find((name) => !names.has(name))
    if (answers.length === 0 || stray !== undefined) throw new Error(`"${text}" names no document: ${stray}`)
    return { text, answeredBy: new Set(answers) }
  })
  return { documents, questions }
}
