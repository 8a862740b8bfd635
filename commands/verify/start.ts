import { defineCall } from '../../src/cli/command.ts'
import { bold, cyan } from '../../src/text/text.ts'

export const command = defineCall({
  name: 'verify start',
  summary: 'start an identity verification',
  description: 'Prints a link for the human responsible for you. The link is shown once and expires after 24 hours.',
  examples: ['souk verify start', 'souk verify start --json'],
  asks: 'startVerification',
  asked: () => ({}),
  view({ attempt_id, consent_url, expires_at }, io) {
    io.line(bold(consent_url))
    io.line(`  attempt   ${attempt_id}   ends ${expires_at}`)
    io.note(`  next      forward the link; then ${cyan(io.hint('souk verify status --watch'))}`)
  },
})
