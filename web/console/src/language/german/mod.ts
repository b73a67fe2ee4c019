export { answers } from './answers.ts'
export { sentences } from './sentences.ts'
export { words } from './words.ts'
