import java.util.Set;
import javax.management.MBeanServerConnection;
import javax.management.ObjectName;
import javax.management.remote.JMXConnector;
import javax.management.remote.JMXConnectorFactory;
import javax.management.remote.JMXServiceURL;

/** The metrics of the group coordinator in the broker whose JMX port is given, one a line: name, tags, value. */
public class CoordinatorMetrics {
    public static void main(String[] args) throws Exception {
        String url = "service:jmx:rmi:///jndi/rmi://127.0.0.1:" + args[0] + "/jmxrmi";
        try (JMXConnector connector = JMXConnectorFactory.connect(new JMXServiceURL(url))) {
            MBeanServerConnection beans = connector.getMBeanServerConnection();
            for (String pattern : Set.of("kafka.server:type=group-coordinator-metrics,*", "kafka.coordinator.group:*")) {
                for (ObjectName name : beans.queryNames(new ObjectName(pattern), null)) {
                    for (var attribute : beans.getMBeanInfo(name).getAttributes()) {
                        System.out.println(
                            name + "\t" + attribute.getName() + "\t" + beans.getAttribute(name, attribute.getName()));
                    }
                }
            }
        }
    }
}
