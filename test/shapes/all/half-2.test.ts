import { testTables } from '../run.js';

testTables(1, 2);
