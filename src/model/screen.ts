/** Screens of the cockpit, in the order of their tabs; those at the end have none, and are gone to by name. */
export const screenIds = [
  'overview',
  'services',
  'jobs',
  'threads',
  'crons',
  'endpoints',
  'money',
  'compliance',
  'logs',
  'requests',
  'people',
  'clock',
] as const
export type ScreenId = (typeof screenIds)[number]
