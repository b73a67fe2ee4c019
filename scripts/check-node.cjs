// For units and images that start main.ts themselves: any Node reads this file, and an older one can't read main.ts.
const [major, minor] = process.versions.node.split('.').map(Number)
if (major !== 22 || minor < 18) {
  console.error(
    `patchbay: Node 22.18 or a later 22 is needed, and ${process.execPath} is ${process.version}: install it from https://nodejs.org or name another one in ExecStart and ExecStartPre, then run "npm ci" with it.`,
  )
  process.exit(1)
}
