import { describeScenarios } from '../../../fixtures/scenarios/run.ts'
import { statsScenarios } from './scenarios.testkit.ts'

describeScenarios('Statistics', statsScenarios)
