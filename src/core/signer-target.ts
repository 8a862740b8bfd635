import { httpUrl, staysHere } from './loopback.ts'

/** Where a key lies that signs for the daemon. `shown` names it without arguments, path and query. */
export type SignerTarget = { readonly shown: string } & (
  | { readonly kind: 'exec'; readonly command: string }
  | { readonly kind: 'http'; readonly url: string }
)

const EXEC = 'exec:'

/** Reads a signer; undefined for another form, and for plain http to another machine. */
export function readSigner(text: string): SignerTarget | undefined {
  if (text.startsWith(EXEC)) {
    const command = text.slice(EXEC.length).trim()
    return command === '' ? undefined : { kind: 'exec', command, shown: `${EXEC}${command.split(/\s/)[0]}` }
  }
  const url = httpUrl(text)
  if (!url || url.username || url.password || (url.protocol !== 'https:' && !staysHere(text))) return undefined
  return { kind: 'http', url: text, shown: url.origin }
}
