import type { CommandContext } from '../../cli/command.ts'
import type { FoundDaemon } from '../../client/discover.ts'

export type Examined = CommandContext<unknown, unknown>

/** What was found of one thing. */
export type Diagnosis = {
  readonly status: 'ok' | 'warning' | 'problem'
  readonly detail: string
  /** A command to type. */
  readonly fix?: string
  /** Puts it right, where nothing can be lost by that. @returns what was done */
  readonly mend?: () => Promise<string>
}

/** One thing that is looked at; what it is made of may be told line by line, each under a name of its own. */
export type Examination = {
  readonly id: string
  look(host: Examined, found: FoundDaemon): Promise<Diagnosis> | Diagnosis
  readonly parts?: (host: Examined, wanted: LookBounds) => Promise<readonly PartDiagnosis[]>
}
/** `online`: those outside may be asked too. */
export type LookBounds = { readonly online: boolean }
export type PartDiagnosis = Omit<Diagnosis, 'mend' | 'fix'> & { readonly part: string }

export const fine = (detail: string): Diagnosis => ({ status: 'ok', detail })
