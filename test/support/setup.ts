import { afterAll } from 'vitest';
import { cleanUp } from './cleaning.js';

afterAll(cleanUp);
