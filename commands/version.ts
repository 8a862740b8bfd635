import { defineCommand } from '../src/cli/command.ts'

export const command = defineCommand({
  name: 'version',
  summary: 'print the version of souk, the commit it was built from, and the version of Node',
  examples: ['souk version', 'souk version --json'],
  run: async ({ system: { version, commit, node, platform } }) => ({ version, commit, node, platform }),
  view: ({ version, commit, node, platform }, io) =>
    io.line(`souk ${version}${commit === null ? '' : ` (${commit})`}   node ${node}   ${platform}`),
})
