// A program of an analyst, over JDBC. Prints one line "name: value" for each
// thing it saw; tests/full/test_clients.py knows what they must be.
import java.math.BigDecimal;
import java.sql.*;
import java.util.*;

public class Clients {
    static void say(String name, Object value) {
        System.out.println(name + ": " + value);
    }

    static String rows(ResultSet r, String... columns) throws SQLException {
        List<String> out = new ArrayList<>();
        while (r.next()) {
            List<String> cells = new ArrayList<>();
            for (String c : columns)
                cells.add(r.getString(c));
            out.add(String.join(",", cells));
        }
        return String.join(";", out);
    }

    static void metadata(Connection c) throws SQLException {
        DatabaseMetaData m = c.getMetaData();
        say("product", m.getDatabaseProductName());
        say("schemas", rows(m.getSchemas(), "TABLE_SCHEM"));
        say("catalogs", rows(m.getCatalogs(), "TABLE_CAT"));
        say("tables", rows(m.getTables(null, null, "%", new String[] {"TABLE"}), "TABLE_NAME", "REMARKS"));
        say("columns", rows(m.getColumns(null, "public", "pat", "%"), "COLUMN_NAME", "TYPE_NAME", "IS_NULLABLE"));
        say("primary", rows(m.getPrimaryKeys(null, "public", "pat"), "COLUMN_NAME"));
        say("imported", rows(m.getImportedKeys(null, "public", "pat"), "PKTABLE_NAME", "FKCOLUMN_NAME"));
        say("exported", rows(m.getExportedKeys(null, "public", "hos"), "FKTABLE_NAME", "FKCOLUMN_NAME"));
        say("indexes", rows(m.getIndexInfo(null, "public", "pat", false, false), "COLUMN_NAME", "CARDINALITY", "PAGES"));
        say("best", rows(m.getBestRowIdentifier(null, "public", "pat", DatabaseMetaData.bestRowSession, true), "COLUMN_NAME"));
        for (ResultSet r : new ResultSet[] {m.getTypeInfo(), m.getTableTypes(), m.getProcedures(null, null, "%"),
                 m.getFunctions(null, null, "%"), m.getTablePrivileges(null, "public", "pat"),
                 m.getColumnPrivileges(null, "public", "pat", "%"), m.getUDTs(null, null, "%", null),
                 m.getVersionColumns(null, "public", "pat"), m.getCrossReference(null, "public", "hos", null, "public", "pat")})
            while (r.next())
                r.getString(1);
        say("user", m.getUserName() + " " + m.getMaxColumnNameLength() + " " + (m.getSQLKeywords().length() > 100));
        say("connection", c.getSchema() + " " + c.getCatalog() + " " + c.isValid(30));
    }

    static void sevenTimes(Connection c) throws SQLException {
        PreparedStatement s = c.prepareStatement(
            "select sex, count(*) as n from pat where born >= ? and id < ? group by sex order by sex");
        Set<String> seen = new HashSet<>();
        for (int i = 0; i < 7; i++) {
            s.setDate(1, java.sql.Date.valueOf("1950-01-01"));
            s.setInt(2, 800);
            seen.add(rows(s.executeQuery(), "sex", "n"));
        }
        say("seven", seen.size());
        say("keys", String.join("", seen).replaceAll("[^FM]", ""));
    }

    static void parameters(Connection c) throws SQLException {
        PreparedStatement s = c.prepareStatement("select count(*) as n from pat where sex = ? and h = ? and born < ? and id < ?");
        ParameterMetaData p = s.getParameterMetaData();
        say("types", p.getParameterTypeName(1) + " " + p.getParameterTypeName(2) + " " + p.getParameterTypeName(3));
        say("result", s.getMetaData().getColumnName(1) + " " + s.getMetaData().getColumnTypeName(1));
        s.setString(1, "F");
        s.setLong(2, 1);
        s.setTimestamp(3, Timestamp.valueOf("1990-01-01 00:00:00"));
        s.setBigDecimal(4, new BigDecimal("700.5"));
        ResultSet r = s.executeQuery();
        r.next();
        say("timestamp", r.getObject(1).getClass().getSimpleName());
        s.setObject(3, java.time.LocalDate.of(1990, 1, 1));
        s.setDouble(4, 700.5);
        r = s.executeQuery();
        say("local date", r.next());
    }

    static void pieces(Connection c) throws SQLException {
        c.setAutoCommit(false);
        Statement s = c.createStatement();
        s.setFetchSize(1);
        say("pieces", rows(s.executeQuery("select sex, count(*) as n from pat group by sex order by sex"), "sex"));
        c.rollback();
        c.setAutoCommit(true);
    }

    static void errors(Connection c) throws SQLException {
        Statement s = c.createStatement();
        String[] all = {"delete from pat", "select * from pat", "set dpcount.policy = 'x'", "select count(*) from nope"};
        for (String sql : all)
            try {
                s.execute(sql);
                say("not refused", sql);
            } catch (SQLException e) {
                say(sql, e.getSQLState());
            }
        s.execute("set dpcount.epsilon = '0.7'; set dpcount.error_columns = on");
        say("labels", rows(s.executeQuery("explain select count(*) as n from pat where id < 3"), "QUERY PLAN").contains("epsilon 0.7"));
        s.setQueryTimeout(60);
        s.executeQuery("select count(*) as n from pat where id < 4");
        say("warnings", s.getWarnings() != null && s.getWarnings().getMessage().contains("charged epsilon 0.7"));
    }

    /* Of a service whose replies take longer: the question is worked off. */
    static void timeout(Connection c) throws Exception {
        String sql = "select count(*) from pat where id < 5";
        Statement s = c.createStatement();
        s.setQueryTimeout(1);
        try {
            s.executeQuery(sql);
            say("timeout", "none");
        } catch (SQLException e) {
            say("timeout", e.getSQLState());
        }
        Statement again = c.createStatement();
        /* the same question joins the first one */
        ResultSet r = again.executeQuery(sql);
        say("later", r.next());
    }

    public static void main(String[] a) throws Exception {
        Properties p = new Properties();
        p.put("user", a[2]);
        p.put("password", a[3]);
        p.put("sslmode", "verify-full");
        p.put("sslrootcert", a[1]);
        try (Connection c = DriverManager.getConnection("jdbc:postgresql://localhost:" + a[0] + "/hospital", p)) {
            if (a.length > 4) {
                timeout(c);
                return;
            }
            sevenTimes(c);
            metadata(c);
            parameters(c);
            pieces(c);
            errors(c);
        }
    }
}
