/** Gives the functions names: the CommonJS package is bundled as one default export. Load this file with import(). */
import * as yaml from 'yaml'

export const { isMap, isNode, isScalar, LineCounter, parseDocument, stringify } = yaml
