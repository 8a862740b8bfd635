import { describeScenarios } from '../../../fixtures/scenarios/run.ts'
import { bidScenarios } from './bid-scenarios.testkit.ts'
import { requestScenarios } from './scenarios.testkit.ts'

describeScenarios('Requests', [...requestScenarios, ...bidScenarios])
