import { errnoOf } from '../core/error.ts'

/** A system error as it is shown to the user, with its remedy. */
type MachineTrouble = { readonly sentence: string; readonly facts: readonly string[]; readonly next: readonly string[] }

/** Members that Node adds to system errors. */
type SystemError = Error & {
  readonly path?: string
  readonly syscall?: string
  readonly address?: string
  readonly port?: number
  /** Of SQLite. */
  readonly errcode?: number
}

/** Names of system errors by the SQLite error code. */
const sqliteCodes: Readonly<Record<number, string>> = { 8: 'EROFS', 13: 'ENOSPC', 14: 'EACCES' }
/** The low byte of an extended SQLite code is its primary code. */
const SQLITE_PRIMARY = 0xff
const FOLDERS = 'or choose other folders: XDG_CONFIG_HOME, XDG_DATA_HOME, XDG_STATE_HOME, or --data'

/** The system error that caused a failure, searched through all causes; undefined if there is none. */
export function machineTrouble(error: unknown): MachineTrouble | undefined {
  for (let at = error; at instanceof Error; at = at.cause) {
    const found = troubleOf(at, codeOf(at))
    if (found !== undefined) return found
  }
  return undefined
}

function codeOf(error: SystemError): string | undefined {
  return error.errcode === undefined ? errnoOf(error) : sqliteCodes[error.errcode & SQLITE_PRIMARY]
}

function troubleOf(error: SystemError, code: string | undefined): MachineTrouble | undefined {
  if (error.syscall === 'listen') return listenTrouble(error, code)
  const { path = 'a file' } = error
  switch (code) {
    case 'ENOSPC':
    case 'EDQUOT':
      return {
        sentence: `The disk is full: ${path} cannot be written.`,
        facts: ['free some space, then try again'],
        next: ['souk doctor --only disk'],
      }
    case 'EROFS':
      return { sentence: `${path} is read-only.`, facts: ['make it writable', FOLDERS], next: ['souk config path'] }
    case 'EACCES':
    case 'EPERM':
      return {
        sentence: `No permission for ${path}: check its owner and permissions.`,
        facts: [FOLDERS],
        next: ['souk config path'],
      }
    case 'ENOTDIR':
    case 'EEXIST':
      return { sentence: `${path} is a file where a folder is needed.`, facts: [FOLDERS], next: ['souk config path'] }
    case 'ENOENT':
      if (error.syscall === 'mkdir') {
        return { sentence: `The folder ${path} cannot be created.`, facts: [FOLDERS], next: ['souk config path'] }
      }
      return { sentence: `There is no ${path}.`, facts: ['create its folder first'], next: [] }
    default:
      return undefined
  }
}

function listenTrouble({ address = '', port = 0 }: SystemError, code: string | undefined): MachineTrouble | undefined {
  const facts = ['nothing was started']
  if (code === 'EADDRINUSE')
    return { sentence: `Port ${port} is used by another program.`, facts, next: ['souk up --port 0'] }
  if (code === 'EACCES')
    return { sentence: `You have no permission to use port ${port}.`, facts, next: ['souk up --port 4020'] }
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND')
    return { sentence: `${address} is not an address of this machine.`, facts, next: ['souk up'] }
  return undefined
}
