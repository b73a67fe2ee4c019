/** A port that is free for UDP and TCP on loopback, and stays so while others ask for any port. */
export { freePort as steadyPort } from '../../scripts/demo/free-port.ts'
