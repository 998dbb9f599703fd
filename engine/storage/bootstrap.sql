-- Once a database, as its administrator: extension, roles, schemas. Safe to repeat.
CREATE EXTENSION IF NOT EXISTS vector SCHEMA public;
REVOKE CREATE ON SCHEMA public FROM PUBLIC;
DO $body$
BEGIN
  IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'anamnesis_owner') THEN
    CREATE ROLE anamnesis_owner NOLOGIN NOSUPERUSER NOBYPASSRLS;
  END IF;
  IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'anamnesis_engine') THEN
    CREATE ROLE anamnesis_engine LOGIN NOSUPERUSER NOBYPASSRLS NOCREATEDB NOCREATEROLE;
  END IF;
  IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'anamnesis_console') THEN
    CREATE ROLE anamnesis_console LOGIN NOSUPERUSER NOBYPASSRLS NOCREATEDB NOCREATEROLE;
  END IF;
  EXECUTE format('GRANT anamnesis_owner TO %I', current_user);
  EXECUTE format('REVOKE TEMP ON DATABASE %I FROM PUBLIC', current_database());
  EXECUTE format('GRANT CONNECT ON DATABASE %I TO anamnesis_engine, anamnesis_console', current_database());
END
$body$;
CREATE SCHEMA IF NOT EXISTS knowledge AUTHORIZATION anamnesis_owner;
CREATE SCHEMA IF NOT EXISTS chat AUTHORIZATION anamnesis_owner;
CREATE SCHEMA IF NOT EXISTS memory AUTHORIZATION anamnesis_owner;
CREATE SCHEMA IF NOT EXISTS staff AUTHORIZATION anamnesis_owner;
CREATE SCHEMA IF NOT EXISTS evaluation AUTHORIZATION anamnesis_owner;
CREATE SCHEMA IF NOT EXISTS jobs AUTHORIZATION anamnesis_owner;
CREATE SCHEMA IF NOT EXISTS telemetry AUTHORIZATION anamnesis_owner;
CREATE SCHEMA IF NOT EXISTS metrics AUTHORIZATION anamnesis_owner;
ALTER ROLE anamnesis_engine SET search_path = pg_catalog, public;
ALTER ROLE anamnesis_engine SET statement_timeout = '30s';
ALTER ROLE anamnesis_console SET search_path = pg_catalog, public;
ALTER ROLE anamnesis_console SET statement_timeout = '10s';
ALTER ROLE anamnesis_console SET default_transaction_read_only = on;
